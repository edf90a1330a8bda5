-- The tables of `orders_database.py`, and the indexes that an owner would have.
CREATE TABLE IF NOT EXISTS customers (
  id int PRIMARY KEY, org_unit text NOT NULL, name text NOT NULL, email text NOT NULL, region text NOT NULL, since date NOT NULL
);
CREATE TABLE IF NOT EXISTS products (id int PRIMARY KEY, name text NOT NULL, category text NOT NULL, price numeric(10, 2) NOT NULL);
CREATE TABLE IF NOT EXISTS orders (
  id int PRIMARY KEY, org_unit text NOT NULL, customer_id int NOT NULL REFERENCES customers (id),
  product_id int NOT NULL REFERENCES products (id), status text NOT NULL, ordered_at timestamptz NOT NULL,
  quantity int NOT NULL, amount numeric(12, 2) NOT NULL, note text
);
CREATE INDEX IF NOT EXISTS customers_name ON customers (name);
CREATE INDEX IF NOT EXISTS customers_email ON customers (email);
CREATE INDEX IF NOT EXISTS orders_ordered_at ON orders (ordered_at);
CREATE INDEX IF NOT EXISTS orders_customer ON orders (customer_id);
CREATE INDEX IF NOT EXISTS orders_amount ON orders (amount);
