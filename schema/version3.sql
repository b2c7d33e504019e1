-- From version 2 to 3: the table patch, as in tables.sql.

-- patch: content that is stored as changes over other content, its base. A base is whole, and exists as long as one of them.
CREATE TABLE patch (
	kind INTEGER NOT NULL,                -- of both, as in pin
	base INTEGER NOT NULL,
	id   INTEGER NOT NULL,                -- what is stored over it
	PRIMARY KEY (kind, base, id)
) STRICT, WITHOUT ROWID;
