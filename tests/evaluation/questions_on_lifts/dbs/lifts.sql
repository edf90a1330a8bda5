-- A company that looks after lifts; made by counting, up to 20 November 2026.
CREATE TABLE building (id int PRIMARY KEY, name text NOT NULL, city text NOT NULL, kind text NOT NULL, floors int NOT NULL);
CREATE TABLE lift (
  id int PRIMARY KEY, building_id int NOT NULL REFERENCES building (id), maker text NOT NULL, state text NOT NULL,
  capacity_kg int NOT NULL, installed_on date NOT NULL
);
CREATE TABLE technician (id int PRIMARY KEY, name text NOT NULL, team text NOT NULL, level int NOT NULL, hired_on date NOT NULL);
CREATE TABLE visit (
  id int PRIMARY KEY, lift_id int NOT NULL REFERENCES lift (id), technician_id int NOT NULL REFERENCES technician (id),
  visited_on date NOT NULL, reason text NOT NULL, minutes int NOT NULL, fee numeric(10, 2) NOT NULL, is_billed boolean NOT NULL
);
CREATE TABLE part_use (
  id int PRIMARY KEY, visit_id int NOT NULL REFERENCES visit (id), part text NOT NULL, quantity int NOT NULL,
  unit_cost numeric(10, 2) NOT NULL
);
INSERT INTO building
SELECT i, (ARRAY ['Harbour', 'Garden', 'Station', 'Bridge', 'Market'])[1 + i % 5] || ' House ' || i,
       (ARRAY ['Suzhou', 'Ningbo', 'Bergen', 'Ghent'])[1 + i % 4], (ARRAY ['office', 'hospital', 'mall', 'housing'])[1 + i * 3 % 7 % 4],
       4 + i * 7 % 29
FROM generate_series(1, 40) i;
INSERT INTO lift
SELECT i, 1 + i * 11 % 38, (ARRAY ['Otara', 'Kolme', 'Shenling'])[1 + i % 3],
       CASE WHEN i % 13 = 0 THEN 'scrapped' WHEN i % 9 = 0 THEN 'stopped' ELSE 'running' END,
       (ARRAY [450, 630, 1000, 1600])[1 + i % 4], date '2012-03-01' + i * 53
FROM generate_series(1, 96) i;
INSERT INTO technician
SELECT i, (ARRAY ['Li Na', 'Ola Berg', 'Chen Yu', 'Jan Maes', 'Wu Di', 'Kari Lund'])[1 + i % 6] || ' ' || i,
       (ARRAY ['day', 'night', 'project'])[1 + i % 3], 1 + i * 5 % 4, date '2018-01-15' + i * 171
FROM generate_series(1, 18) i;
INSERT INTO visit
SELECT i, 1 + i * 17 % 90, 1 + i * 7 % 16, date '2026-11-20' - i * 3 % 1050, (ARRAY ['routine', 'fault', 'inspection'])[1 + i * i % 5 % 3],
       20 + i * 37 % 210, (80 + i * 29 % 540)::numeric, i % 6 <> 0
FROM generate_series(1, 700) i;
INSERT INTO part_use
SELECT i, 1 + i * 13 % 700, (ARRAY ['door roller', 'brake pad', 'relay', 'cable', 'button'])[1 + i % 5], 1 + i % 4,
       (ARRAY [18, 64, 25, 210, 7])[1 + i % 5]::numeric
FROM generate_series(1, 420) i;
