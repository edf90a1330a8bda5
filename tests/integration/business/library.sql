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
