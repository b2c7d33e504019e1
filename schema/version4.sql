-- From version 3 to 4: inode numbers in the table change, as in tables.sql. Rows that are there have none.

ALTER TABLE change ADD COLUMN ino INTEGER;
ALTER TABLE change ADD COLUMN dir INTEGER;
ALTER TABLE change ADD COLUMN argdir INTEGER;
ALTER TABLE change ADD COLUMN displaced INTEGER;
