-- count of all
SELECT count(*) AS orders FROM orders;
-- revenue
SELECT sum(amount) AS revenue FROM orders WHERE status <> 'cancelled';
-- revenue by status
SELECT status, sum(amount) AS revenue, count(*) AS orders FROM orders GROUP BY status ORDER BY revenue DESC;
-- distinct customers by status
SELECT status, count(DISTINCT customer_id) AS customers FROM orders GROUP BY status;
-- top five customers
SELECT c.name, sum(o.amount) AS revenue FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.id, c.name ORDER BY revenue DESC LIMIT 5;
-- revenue by category
SELECT p.category, sum(o.amount) AS revenue FROM orders o JOIN products p ON p.id = o.product_id GROUP BY p.category ORDER BY revenue DESC;
-- revenue by month
SELECT date_trunc('month', ordered_at) AS month, sum(amount) AS revenue FROM orders GROUP BY 1 ORDER BY 1;
-- revenue by month of a year
SELECT date_trunc('month', ordered_at) AS month, sum(amount) AS revenue FROM orders WHERE ordered_at >= '2025-01-01' AND ordered_at < '2026-01-01' GROUP BY 1 ORDER BY 1;
-- latest ten
SELECT id, customer_id, ordered_at, amount FROM orders ORDER BY ordered_at DESC LIMIT 10;
-- latest ten that were cancelled
SELECT id, customer_id, ordered_at, amount FROM orders WHERE status = 'cancelled' ORDER BY ordered_at DESC LIMIT 10;
-- latest ten with names
SELECT o.id, c.name, p.name AS product, o.ordered_at FROM orders o JOIN customers c ON c.id = o.customer_id JOIN products p ON p.id = o.product_id ORDER BY o.ordered_at DESC LIMIT 10;
-- oldest ten since a day
SELECT * FROM orders WHERE ordered_at >= '2026-03-01' ORDER BY ordered_at LIMIT 10;
-- largest ten
SELECT id, amount FROM orders ORDER BY amount DESC LIMIT 10;
-- first and last day
SELECT min(ordered_at) AS first, max(ordered_at) AS last FROM orders;
-- largest order
SELECT max(amount) AS largest FROM orders;
-- one by its key
SELECT * FROM orders WHERE id = 1234567;
-- those of a customer
SELECT id, ordered_at, amount FROM orders WHERE customer_id = 4242 ORDER BY ordered_at DESC;
-- those of a customer by name
SELECT o.id, o.ordered_at, o.amount FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.name = 'Customer 4242' ORDER BY o.ordered_at DESC;
-- revenue of a customer by e-mail and category
SELECT p.category, sum(o.amount) AS revenue FROM customers c JOIN orders o ON o.customer_id = c.id JOIN products p ON p.id = o.product_id WHERE c.email = 'c777@example.com' GROUP BY p.category;
-- customers of a name that begins so
SELECT id, name, region FROM customers WHERE name LIKE 'Customer 4242%' ORDER BY id;
-- count of a day
SELECT count(*) AS orders FROM orders WHERE ordered_at >= '2026-05-04' AND ordered_at < '2026-05-05';
-- revenue of a week by status
SELECT status, sum(amount) AS revenue FROM orders WHERE ordered_at >= '2026-05-04' AND ordered_at < '2026-05-11' GROUP BY status;
-- revenue of a month by category
SELECT p.category, sum(o.amount) AS revenue FROM orders o JOIN products p ON p.id = o.product_id WHERE o.ordered_at >= '2026-05-01' AND o.ordered_at < '2026-06-01' GROUP BY p.category;
-- average order by region
SELECT c.region, avg(o.amount) AS average FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.region;
-- orders by region and status
SELECT c.region, o.status, count(*) AS orders FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY 1, 2 ORDER BY 1, 2;
-- share of cancelled
SELECT 100.0 * count(*) FILTER (WHERE status = 'cancelled') / count(*) AS share FROM orders;
-- pivot by status and year
SELECT extract(year FROM ordered_at) AS year, count(*) FILTER (WHERE status = 'paid') AS paid, count(*) FILTER (WHERE status = 'open') AS open FROM orders GROUP BY 1 ORDER BY 1;
-- by day of the week
SELECT extract(isodow FROM ordered_at) AS day, count(*) AS orders FROM orders GROUP BY 1 ORDER BY 1;
-- median by status
SELECT status, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS median FROM orders GROUP BY status;
-- amounts in steps
SELECT width_bucket(amount, 0, 1000, 10) AS step, count(*) AS orders FROM orders GROUP BY 1 ORDER BY 1;
-- amounts between
SELECT count(*) AS orders FROM orders WHERE amount BETWEEN 990 AND 991;
-- a word in the notes
SELECT id, note FROM orders WHERE note LIKE '%fragile 77%' ORDER BY id LIMIT 20;
-- some of two states
SELECT count(*) AS orders FROM orders WHERE status IN ('open', 'returned') AND quantity > 8;
-- customers without an order
SELECT count(*) AS customers FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id);
-- customers with many orders
SELECT c.name, count(*) AS orders FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.id, c.name HAVING count(*) > 45 ORDER BY orders DESC, c.name LIMIT 20;
-- new customers of a month and what they bought
SELECT count(DISTINCT c.id) AS customers, sum(o.amount) AS revenue FROM customers c JOIN orders o ON o.customer_id = c.id WHERE c.since >= '2026-05-01' AND c.since < '2026-05-02';
-- ranks of categories
SELECT category, revenue, rank() OVER (ORDER BY revenue DESC) AS place FROM (SELECT p.category, sum(o.amount) AS revenue FROM orders o JOIN products p ON p.id = o.product_id GROUP BY p.category) r ORDER BY place;
-- running total by month
SELECT month, sum(revenue) OVER (ORDER BY month) AS so_far FROM (SELECT date_trunc('month', ordered_at) AS month, sum(amount) AS revenue FROM orders WHERE ordered_at >= '2026-01-01' GROUP BY 1) m ORDER BY month;
-- three best products of each category
WITH sold AS (SELECT p.category, p.name, sum(o.amount) AS revenue FROM orders o JOIN products p ON p.id = o.product_id GROUP BY p.category, p.name), ranked AS (SELECT sold.*, row_number() OVER (PARTITION BY category ORDER BY revenue DESC) AS place FROM sold) SELECT category, name, revenue FROM ranked WHERE place <= 3 ORDER BY category, place;
-- two years side by side
WITH before AS (SELECT sum(amount) AS revenue FROM orders WHERE ordered_at >= '2024-01-01' AND ordered_at < '2025-01-01'), after AS (SELECT sum(amount) AS revenue FROM orders WHERE ordered_at >= '2025-01-01' AND ordered_at < '2026-01-01') SELECT after.revenue, before.revenue AS before, after.revenue - before.revenue AS difference FROM before, after;
