package mimetype

// byExtension holds the types that are registered, or that everybody uses. Source code has no type that is both: it is
// plain text, whatever its language.
var byExtension = map[string]string{
	".txt": "text/plain", ".log": "text/plain", ".conf": "text/plain", ".ini": "text/plain", ".env": "text/plain",
	".md": "text/markdown", ".markdown": "text/markdown",
	".html": "text/html", ".htm": "text/html", ".css": "text/css", ".csv": "text/csv", ".tsv": "text/tab-separated-values",
	".js": "text/javascript", ".mjs": "text/javascript", ".cjs": "text/javascript",
	".diff": "text/x-diff", ".patch": "text/x-diff", ".ics": "text/calendar", ".vcf": "text/vcard",

	".ts": "text/plain", ".tsx": "text/plain", ".jsx": "text/plain", ".go": "text/plain", ".mod": "text/plain",
	".sum": "text/plain", ".py": "text/plain", ".rb": "text/plain", ".rs": "text/plain", ".java": "text/plain",
	".kt": "text/plain", ".swift": "text/plain", ".c": "text/plain", ".h": "text/plain", ".cc": "text/plain",
	".cpp": "text/plain", ".hpp": "text/plain", ".cs": "text/plain", ".php": "text/plain", ".pl": "text/plain",
	".lua": "text/plain", ".r": "text/plain", ".scala": "text/plain", ".sh": "text/plain", ".bash": "text/plain",
	".zsh": "text/plain", ".ps1": "text/plain", ".bat": "text/plain", ".tex": "text/plain", ".rst": "text/plain",
	".proto": "text/plain", ".vue": "text/plain", ".svelte": "text/plain",

	".json": "application/json", ".map": "application/json", ".yaml": "application/yaml", ".yml": "application/yaml",
	".toml": "application/toml", ".xml": "application/xml", ".sql": "application/sql", ".ipynb": "application/json",

	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".avif": "image/avif", ".bmp": "image/bmp", ".ico": "image/vnd.microsoft.icon", ".svg": "image/svg+xml", ".tif": "image/tiff",
	".tiff": "image/tiff",

	".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".oga": "audio/ogg", ".flac": "audio/flac",
	".m4a": "audio/mp4", ".aac": "audio/aac", ".opus": "audio/ogg", ".mid": "audio/midi", ".weba": "audio/webm",
	".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".ogv": "video/ogg", ".mov": "video/quicktime",
	".avi": "video/x-msvideo", ".mpeg": "video/mpeg",

	".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf", ".otf": "font/otf",

	".pdf": "application/pdf", ".zip": "application/zip", ".gz": "application/gzip", ".tgz": "application/gzip",
	".tar": "application/x-tar", ".zst": "application/zstd", ".bz2": "application/x-bzip2", ".xz": "application/x-xz",
	".7z": "application/x-7z-compressed", ".wasm": "application/wasm", ".jar": "application/java-archive",
	".db": "application/vnd.sqlite3", ".sqlite": "application/vnd.sqlite3", ".rtf": "application/rtf",
	".epub": "application/epub+zip", ".doc": "application/msword", ".xls": "application/vnd.ms-excel",
	".ppt":  "application/vnd.ms-powerpoint",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".odt":  "application/vnd.oasis.opendocument.text", ".ods": "application/vnd.oasis.opendocument.spreadsheet",
	".parquet": "application/vnd.apache.parquet",
}
