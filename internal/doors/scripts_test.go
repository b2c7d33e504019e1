package doors

// A script is work of real programs, in a tree that has the files of seed.
type script struct {
	name  string
	needs []string // programs
	text  string   // of sh -eu; $HELPER is this test binary, see helper
}

// seed are the files that each script finds.
var seed = map[string]string{
	"go.mod":          "module example.com/seed\n\ngo 1.26\n",
	"seed.go":         "package seed\n\n// Double doubles.\nfunc Double(n int) int { return 2 * n }\n",
	"seed_test.go":    "package seed\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fatal(Double(2))\n\t}\n}\n",
	"cmd/hello/m.go":  "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/seed\"\n)\n\nfunc main() { fmt.Println(seed.Double(21)) }\n",
	"docs/a.txt":      "one\ntwo\nthree\n",
	"docs/b.txt":      "needle\n",
	"docs/deep/c.txt": "a needle in deep\n",
	"Makefile":        "all: $(addprefix out/,1 2 3 4 5 6 7 8)\nout/%: docs/a.txt\n\t@mkdir -p out\n\t@cat $< >$@\n\t@echo $* >>$@\n",
}

// scripts leave nothing that differs from one run to the next: no times of now in contents, no numbers of inodes.
var scripts = []script{
	{name: "git", needs: []string{"git"}, text: `
		git init -q -b main . && git config gc.auto 0 && git config pack.threads 1 && git config core.untrackedCache false
		git add . && git commit -q -m one && git status --short
		git checkout -q -b try && echo four >>docs/a.txt && git mv docs/b.txt docs/moved.txt && git rm -q docs/deep/c.txt
		git status --short && git commit -qam two && git diff --stat main try
		git checkout -q main && git merge -q --no-ff -m merge try && git log --format='%h %s' && git stash list
		git clone -q . clone && git -C clone log --format=%h -1 && git gc -q && git fsck --strict && git -C clone fsck --strict
		git worktree add -q ../wt-$$ 2>/dev/null && git worktree remove --force ../wt-$$ && git branch -q -D wt-$$
		git status --short && rm .git/index clone/.git/index
		rm -f .git/gc.log .git/ORIG_HEAD; rm -rf .git/logs clone/.git/logs clone/.git/config .git/worktrees`},
	{name: "go", needs: []string{"go"}, text: `
		go vet ./... && go test -count=1 ./... | sed 's/[0-9.]*s$//' && go build -trimpath -buildvcs=false -o hello ./cmd/hello && ./hello
		sed -i 's/2 \* n/3 * n/' seed.go && go run ./cmd/hello && ! go test -count=1 . >/dev/null && gofmt -l . && rm hello`},
	{name: "git remote", needs: []string{"git"}, text: `
		git init -q -b main work && cd work && git config gc.auto 0 && git config pack.threads 1 && git config pull.rebase true
		cp -r ../docs . && git add . && git commit -q -m one && git tag -a -m tag v1 && git clone -q --bare . ../bare && git remote add origin ../bare
		echo four >>docs/a.txt && git stash -q && git stash pop -q && git commit -qam two && git push -q origin main v1
		git clone -q --no-local ../bare ../other && (cd ../other && echo zero >docs/new.txt && git add . && git commit -q -m three && git push -q origin main)
		echo five >>docs/b.txt && git commit -qam four && git pull -q origin main && git log --format='%h %s' && git rev-list --objects --all | wc -l
		git repack -adfq && git prune-packed && git pack-refs --all && git fsck --strict && git -C ../bare repack -adq && git -C ../bare fsck --strict
		git -C ../other show --stat --format=%s HEAD && git archive HEAD docs | tar t && git grep -c e && git verify-pack .git/objects/pack/*.idx
		cd .. && rm -rf other work/.git bare/config && ls bare`},
	{name: "npm", needs: []string{"npm"}, text: `
		mkdir -p lib app && printf '{"name":"lib","version":"1.2.3","bin":{"libbin":"bin.js"}}' >lib/package.json
		printf '#!/usr/bin/env node\nconsole.log("lib")\n' >lib/bin.js && chmod +x lib/bin.js
		(cd lib && npm pack --silent) && printf '{"name":"app","version":"1.0.0","private":true}' >app/package.json
		cd app && npm install --silent --offline --no-audit --no-fund ../lib/lib-1.2.3.tgz && npm ls --silent | sed 's| /.*||' && ./node_modules/.bin/libbin
		npm rm --silent --no-audit --no-fund lib && find . | sort && rm -f ../lib/*.tgz`},
	{name: "sqlite3 delete", needs: []string{"sqlite3"}, text: sqliteScript("delete")},
	{name: "sqlite3 truncate", needs: []string{"sqlite3"}, text: sqliteScript("truncate")},
	{name: "sqlite3 wal", needs: []string{"sqlite3"}, text: sqliteScript("wal")},
	{name: "tar", needs: []string{"tar"}, text: `
		tar cf all.tar docs cmd && mkdir x && tar xf all.tar -C x && diff -r docs x/docs && ln x/docs/a.txt x/hard && ln -s docs/a.txt x/soft
		tar cf links.tar x && rm -r x && tar xf links.tar && [ x/hard -ef x/docs/a.txt ] && cat x/soft && rm *.tar
		touch -d 2001-02-03T04:05:06.789 docs/a.txt && stat -c '%y %h' docs/a.txt | cut -c1-23`},
	{name: "rsync", needs: []string{"rsync"}, text: `
		mkdir copy && rsync -a --exclude copy ./ copy/ && rsync -rcn --delete --exclude copy --out-format='%o %n' ./ copy/
		echo more >>docs/a.txt && rm docs/b.txt && rsync -ac --delete --exclude copy --out-format='%o %n' ./ copy/ | grep -v '/$' | sort && diff -r docs copy/docs`},
	{name: "ripgrep", needs: []string{"rg"}, text: `
		rg --sort path needle && rg --sort path -l 'func \w+' && rg --files --sort path && rg -c --sort path e docs`},
	{name: "vim", needs: []string{"vim"}, text: `
		vim -e -s -u NONE -c 'set backupcopy=no' -c '%s/two/TWO/' -c wq docs/a.txt </dev/null && cat docs/a.txt
		vim -e -s -u NONE -c 'set backupcopy=yes' -c '%s/one/ONE/' -c wq docs/a.txt </dev/null && cat docs/a.txt && ls -a docs`},
	{name: "sed", text: `
		chmod 640 docs/a.txt && sed -i s/one/1/ docs/a.txt && sed -i.bak s/two/2/ docs/a.txt && cat docs/a.txt docs/a.txt.bak && ls -l docs | awk 'NF > 2 {print $1, $NF}'
		mv docs/a.txt docs/z.txt && mv docs papers && mkdir docs && mv papers/deep docs/ && rmdir docs/deep 2>/dev/null || ls docs papers
		cp -a papers papers2 && rm -r papers && find . | sort`},
	{name: "mmap", text: `
		"$HELPER" mmap m.bin && wc -c <m.bin && od -An -tx1 -N 4 m.bin && od -An -tx1 -j 70000 -N 4 m.bin`},
	{name: "flock", needs: []string{"flock"}, text: `
		echo 0 >n; for i in 1 2 3 4 5 6 7 8; do (flock 9; n=$(cat n); echo $((n+1)) >n) 9>lock & done; wait; cat n`},
	{name: "make", needs: []string{"make"}, text: `
		make -s -j4 && cat out/* && touch docs/a.txt && make -s -j4 && ls out && rm -r out`},
	{name: "times", needs: []string{"tar", "rsync"}, text: `
		touch -d 2001-02-03T04:05:06.123456789Z docs/a.txt && touch -d 1999-01-01T00:00:00.000000001Z docs/deep && touch -h -r docs/a.txt docs/b.txt
		ln -s a.txt docs/soft && touch -h -d 2002-02-02T02:02:02.2Z docs/soft && touch -d 2003-03-03T03:03:03Z . docs
		cp -a docs kept && cp docs/a.txt docs/new && touch -r docs/a.txt docs/new && rsync -a docs/ synced/ && tar cf x.tar --format=pax docs
		mkdir x && tar xf x.tar -C x && rm x.tar && mv kept/deep kept/moved && touch -d 2004-04-04T04:04:04.04Z kept && rm docs/deep/c.txt && touch -d 1998-01-01 docs/deep
		ln kept/a.txt linked && chmod 600 linked && stat -c '%n %y %a' linked kept kept/* docs/* synced/* x/docs/* | sort`},
	{name: "xattr", needs: []string{"setfattr", "rsync"}, text: `
		setfattr -n user.one -v 1 docs/a.txt && setfattr -n user.dir -v 'a b' docs && setfattr -n user.gone -v x docs/b.txt
		setfattr -x user.gone docs/b.txt && setfattr -n user.one -v 2 docs/a.txt && cp -a docs copied && rsync -aX docs/ synced/ && mv docs moved
		tar c --xattrs moved 2>/dev/null | tar x --xattrs --one-top-level=x && getfattr -d -R moved copied synced x 2>/dev/null || true`},
	{name: "files", text: `
		ln docs/a.txt hard && ln -s docs soft && mkfifo pipe && mkdir -m 1777 tmp && umask 077 && echo x >private && chmod 4755 hard
		: >docs/a.txt; ls -l docs/a.txt | cut -c1-10; truncate -s 1M sparse && printf end | dd of=sparse bs=1 seek=500000 conv=notrunc status=none
		cat soft/b.txt && [ -p pipe ] && (cd docs && cat ../soft/deep/c.txt) && for i in $(seq 300); do echo $i >many$i; done
		rm many1* && ls | wc -l && exec 3>open && rm open && echo gone >&3 && exec 3>&- && mv many2 'odd 名' && find . -newer nothing 2>/dev/null | wc -l`},
}

func sqliteScript(mode string) string {
	return `
		sqlite3 db "pragma journal_mode=` + mode + `; create table t (a integer primary key, b text); with recursive n(i) as (select 1 union all select i+1 from n where i<2000) insert into t select i, 'row '||i from n; select count(*) from t;"
		sqlite3 db "begin; update t set b=upper(b) where a%7=0; delete from t where a%5=0; commit; pragma integrity_check; select sum(a), count(*) from t"
		for i in 1 2 3 4; do sqlite3 -cmd '.timeout 60000' db "insert into t (b) values ('w')" & done; wait
		sqlite3 db "select count(*) from t; vacuum; pragma integrity_check" && ls && sqlite3 db .dump >dump.sql && rm -f db*`
}
