CREATE TABLE region (code text PRIMARY KEY, label text);
CREATE TABLE customer (
  id int PRIMARY KEY, org_unit text NOT NULL, name text, region_code text REFERENCES region (code), segment text,
  since date, api_token text
);
COMMENT ON COLUMN customer.segment IS 'how large the company is';
CREATE TABLE sale (
  id int PRIMARY KEY, org_unit text NOT NULL, customer_id int REFERENCES customer (id), amount numeric(10, 2),
  is_paid boolean, sold_at timestamptz
);
INSERT INTO region VALUES ('E', 'East'), ('W', 'West');
INSERT INTO customer
SELECT i, CASE WHEN i % 2 = 0 THEN 'North' ELSE 'South' END, 'Customer ' || i, CASE WHEN i % 3 = 0 THEN 'E' ELSE 'W' END,
       (ARRAY ['small', 'large'])[1 + i % 2], date '2026-01-01' + i, 'tok-' || i
FROM generate_series(1, 150) i;
INSERT INTO sale
SELECT i, CASE WHEN i % 2 = 0 THEN 'North' ELSE 'South' END, 1 + (i - 1) % 150, i * 1.5, i % 4 <> 0,
       timestamptz '2026-09-01 00:00+08' + i * interval '3 hours'
FROM generate_series(1, 400) i;
