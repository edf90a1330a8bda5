-- Business data of the demo company: made by counting, the same on every machine; dates count back from the day it is loaded,
-- and each dated table has a row of that day, so that "this year" says something on 1 January, too.
SET TIME ZONE 'Asia/Shanghai';  -- of the layer: a server in UTC is still on the day before until eight in the morning
CREATE TABLE customer (
  id int PRIMARY KEY, org_unit text NOT NULL, name text NOT NULL, region text NOT NULL, industry text NOT NULL,
  country text NOT NULL, created_on date NOT NULL
);
CREATE TABLE product (id int PRIMARY KEY, name text NOT NULL, category text NOT NULL, list_price numeric(10, 2) NOT NULL);
CREATE TABLE sales_order (
  id int PRIMARY KEY, org_unit text NOT NULL, customer_id int NOT NULL REFERENCES customer (id),
  product_id int NOT NULL REFERENCES product (id), ordered_at timestamptz NOT NULL, quantity int NOT NULL,
  amount numeric(12, 2) NOT NULL, status text NOT NULL
);
CREATE TABLE employee (
  id int PRIMARY KEY, org_unit text NOT NULL, name text NOT NULL, title text NOT NULL, office text NOT NULL,
  status text NOT NULL, hired_on date NOT NULL, salary numeric(10, 2) NOT NULL
);
CREATE TABLE project (
  id int PRIMARY KEY, org_unit text NOT NULL, name text NOT NULL, status text NOT NULL, started_on date NOT NULL,
  budget numeric(12, 2) NOT NULL, owner_id int NOT NULL REFERENCES employee (id)
);
CREATE TABLE environment (
  id int PRIMARY KEY, org_unit text NOT NULL, name text NOT NULL, kind text NOT NULL, status text NOT NULL,
  cluster text NOT NULL
);

INSERT INTO product VALUES
  (1, 'KeelTrack', 'software', 1200), (2, 'KeelDock', 'software', 9800), (3, 'KeelGate', 'gateway', 6400),
  (4, 'KeelGate Mini', 'gateway', 2900), (5, 'KeelCare', 'service', 4500);
INSERT INTO customer
SELECT i, '销售与产品部 Sales & Product',
       CASE WHEN i < 8 OR (k, n) IN ((2, 0), (2, 4), (2, 6), (3, 5), (4, 1), (4, 6))  -- question sets name these
            THEN (ARRAY ['宁川港务', '云岭快运', '临江粮储', '锦泽纺织', 'Scheldt Breakbulk', 'Rheinbogen Logistik',
                         'Fjordline Reefer', 'Maasvallei Cold Chain'])[1 + n] || CASE WHEN i < 8 THEN '' ELSE ' ' || (k + 1) END
            WHEN n < 4
            THEN (ARRAY ['松屿', '鹭湾', '远棠', '岚桥', '禾川', '沐阳', '碧溪', '晴洲', '海岑', '恒岭', '云澜'])[k]
                 || (ARRAY ['港务', '快运', '粮储', '纺织'])[1 + n]
            ELSE (ARRAY ['Noordzand', 'Elbwind', 'Vestvik', 'Kempenaer', 'Lindholm', 'Zilverberg', 'Havnes', 'Brabo', 'Weserland',
                         'Solvang', 'Duinrand'])[k]
                 || (ARRAY [' Breakbulk', ' Logistik', ' Reefer', ' Cold Chain'])[n - 3] END,
       (ARRAY ['华东', '西南', '华南', '华北', '欧洲', '欧洲', '欧洲', '欧洲'])[1 + n],
       (ARRAY ['port', 'carrier', 'warehouse', 'retail'])[1 + i % 4],
       (ARRAY ['China', 'China', 'China', 'China', 'Belgium', 'Germany', 'Norway', 'Netherlands'])[1 + n],
       current_date - (i * 7 % 720)
FROM generate_series(0, 95) i, LATERAL (SELECT i / 8 AS k, i % 8 AS n) AS place;
-- The digits of a hash make uneven numbers: few customers order much and many little, some products sell better, some have a discount.
INSERT INTO sales_order
SELECT i, '销售与产品部 Sales & Product', floor(96 * power(who, 1.7)), product, (current_date - days + time '10:00') AT TIME ZONE 'Asia/Shanghai',
       quantity, round((ARRAY [1200, 9800, 6400, 2900, 4500])[product] * quantity * (1 - discount / 100.0), 2),
       CASE WHEN i % 13 = 4 THEN 'cancelled'  -- one of thirteen; customers pay within 30 to 90 days, a few are late
            WHEN days < 30 + 10 * (i % 7) OR i % 37 = 5 THEN 'open'
            ELSE 'paid' END
FROM generate_series(1, 600) i,
     LATERAL (SELECT ('x' || substr(md5('order ' || i), 1, 6))::bit(24)::int / 16777216.0 AS who,
                     ('x' || substr(md5('order ' || i), 7, 6))::bit(24)::int AS draw) AS drawn,
     LATERAL (SELECT (ARRAY [1, 1, 1, 1, 2, 3, 3, 4, 4, 5])[1 + draw % 10] AS product, 1 + draw / 10 % 3 * (draw / 30 % 5) AS quantity,
                     (ARRAY [0, 0, 0, 5, 8, 12])[1 + draw / 150 % 6] AS discount,
                     CASE WHEN i = 1 THEN 0 ELSE draw / 900 % 700 END AS days) AS sold;
INSERT INTO employee
SELECT i,
       (ARRAY ['工程部 Engineering', '工程部 Engineering', '销售与产品部 Sales & Product', '人力与财务部 People & Finance'])[1 + i % 4],
       (ARRAY ['王', '李', '张', '刘', '陈', '杨', '赵', '黄', '周', '吴'])[1 + i % 10]
         || (ARRAY ['明', '丽', '强', '芳', '伟', '娜', '军', '敏', '杰', '静', '磊', '洋', '艳'])[1 + i % 13],
       (ARRAY ['Engineer', 'Senior Engineer', 'Account Manager', 'Analyst'])[1 + i % 4],
       CASE WHEN i % 3 = 0 THEN 'Rotterdam' ELSE 'Hangzhou' END,
       CASE WHEN i % 11 = 0 THEN 'probation' WHEN i % 17 = 0 THEN 'left' ELSE 'active' END,
       current_date - (CASE WHEN i % 11 = 0 THEN (i - 11) % 90 ELSE 100 + i * 13 % 2600 END), 18000 + i * 137 % 20000
FROM generate_series(1, 186) i;
INSERT INTO project
SELECT i,
       (ARRAY ['工程部 Engineering', '销售与产品部 Sales & Product', '人力与财务部 People & Finance'])[1 + i % 3],
       (ARRAY ['Arrival prediction', 'Cold-chain alarms', 'Slot booking', 'Gateway rollout', 'Price engine', 'Onboarding portal'])[1 + i % 6]
         || ' ' || i,
       (ARRAY ['active', 'active', 'paused', 'done'])[1 + i % 4], current_date - ((i - 1) * 23 % 600), 50000 + i * 7000, 1 + i * 5 % 186
FROM generate_series(1, 36) i;
INSERT INTO environment VALUES
  (1, '工程部 Engineering', 'dev', 'development', 'in use', 'hz-1'), (2, '工程部 Engineering', 'test', 'test', 'in use', 'hz-1'),
  (3, '工程部 Engineering', 'staging', 'staging', 'in use', 'hz-2'), (4, '工程部 Engineering', 'prod-cn', 'production', 'in use', 'hz-2'),
  (5, '工程部 Engineering', 'prod-eu', 'production', 'in use', 'rtm-1'), (6, '工程部 Engineering', 'demo', 'demo', 'retired', 'rtm-1');
