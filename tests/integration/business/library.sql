-- As databases are that grew: no keys declared, names glued, codes, a year and a month beside each other.
CREATE TABLE author (authorid int, authorname text);
CREATE TABLE paper (paperid int, title text, year int, month text, is_open boolean, start_time time);
CREATE TABLE paperauthor (paperid int, authorid int);
CREATE TABLE member (id int, first_name text, last_name text, state text, height_cm int);
CREATE TABLE loan (loan_id int, member_id int, paper_id int, loan_date date, returned_date date);
CREATE TABLE visit (visit_id int, author_id int, visited_on date);
INSERT INTO author VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cy');
INSERT INTO paper VALUES (1, 'On keys', 2021, 'January', true, '08:00'), (2, 'On joins', 2021, 'May', false, '09:00'),
                         (3, 'On names', 2022, 'May', true, NULL);
INSERT INTO paperauthor VALUES (1, 1), (1, 2), (2, 1), (3, 1);
INSERT INTO member VALUES (1, 'Ann', 'Lee', 'CA', 170), (2, 'Bob', 'Ray', 'NY', 180), (3, 'Eve', 'Ott', 'CA', 160);
INSERT INTO loan VALUES (1, 1, 1, '2026-01-05', '2026-02-01'), (2, 1, 2, '2026-03-05', NULL), (3, 2, 9, '2026-03-06', NULL);
INSERT INTO visit VALUES (1, 99, '2026-01-01');
-- People with an office that is called their title, months written with blanks, yes and no as words, days as text.
CREATE TABLE clerk (clerk_id int PRIMARY KEY, first_name text, last_name text, title text);
CREATE TABLE supplier (supplier_id int PRIMARY KEY, company_name text, contact_name text, discontinued int);
CREATE TABLE genre (gid int PRIMARY KEY, genre text);
CREATE TABLE locker (locker_id int PRIMARY KEY, clerk int, locked text, fitted_on text);
CREATE TABLE vehicle (vehicle_id int PRIMARY KEY, clerk_id int, year int, crtd_ts timestamp, colour text, wheels int, plate_number int);
CREATE TABLE feedback (feedback_id int PRIMARY KEY, clerk_id int, grade text, stars int, year int, month text);
CREATE TABLE citation (citing_paperid int, cited_paperid int);
INSERT INTO clerk VALUES (1, 'Kim', 'Low', 'Head clerk'), (2, 'Lou', 'Orr', 'Clerk'), (3, 'May', 'Poe', 'Clerk');
INSERT INTO supplier VALUES (1, 'Paper Ltd', 'Ann Lee', 0), (2, 'Ink & Co', 'Bob Ray', 1);
INSERT INTO genre VALUES (1, 'Poems'), (2, 'Plays');
INSERT INTO locker VALUES (1, 2, 'Yes', '2020-05-01'), (2, 2, 'No', '2021-06-02'), (3, 3, 'No', NULL);
INSERT INTO vehicle VALUES (1, 1, 2019, '2023-01-01', 'red', 4, 17), (2, 2, 2020, '2023-01-01', 'red', 2, 0);
INSERT INTO feedback VALUES (1, 1, 'A', 5, 2021, 'April'), (2, 2, 'B', 3, 2021, 'April   '), (3, 2, 'A', 4, 2020, 'April'),
                            (4, 2, 'B', 1, 2021, 'May');
INSERT INTO citation VALUES (2, 1), (3, 1);
-- Who sent a message depends on its type; places, kinds, statuses and times by short names; days of the week without a date.
CREATE TABLE visitor (visitor_id int PRIMARY KEY, nickname text, join_date date, loc_city text, pass_type text, status text);
CREATE TABLE message (message_id int PRIMARY KEY, sender_id int, sender_type int, vehicle_id int);
CREATE TABLE entry (entry_id int PRIMARY KEY, visitor_id int, day text, count int);
INSERT INTO visitor VALUES (1, 'kiki', '2024-05-01', 'Rome', 'guest', 'fail'), (2, 'lolo', '2025-05-01', 'Oslo', 'family', 'ok'),
                           (3, 'mimi', '2025-06-01', 'Oslo', 'guest', 'ok');
INSERT INTO message VALUES (1, 1, 0, 1), (2, 2, 1, 2), (3, 1, 1, NULL);
INSERT INTO entry VALUES (1, 1, 'Monday', 4), (2, 2, 'Monday', 1), (3, 2, 'Friday', 2);
