--! Previous: -
--! Hash: sha1:656ba7a21ec800ff0514bb6a214c4b612b8e9a7e
--! Message: first release

--! Included all.sql
-- The whole schema in dependency order: the table of contents.

-- access: schemas, roles, keys, who is asking
--! Included access/schemas.sql
-- Two schemas: what PostgREST serves, and what it never shows. Both are private until a file grants otherwise.
create schema api;
create schema internal;

comment on schema api is
  E'Lading\nOrders, shipments, receipts, inventory and webhooks of a business, as tables and calls. '
  'Every request carries an application key (header apikey) and an API key (header Authorization: Bearer).';
comment on schema internal is 'Rules, keys and working state. Never exposed by PostgREST.';

alter default privileges revoke execute on functions from public;

create extension if not exists pgcrypto with schema internal;
--! EndIncluded access/schemas.sql
--! Included access/roles.sql
-- The database roles that keys act as. Roles belong to the whole cluster, so each is made only where it is missing.
--   authenticator  PostgREST and the sidecar log in as it and may only become one of the others
--   anon           a request without an API key: may do nothing
--   business       one business, read and write
--   warehouse      one business, may only post fulfillment callbacks
--   operator       all businesses
do $$
declare
  wanted text;
begin
  foreach wanted in array array['anon', 'business', 'warehouse', 'operator'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      execute format('create role %I nologin', wanted);
    end if;
  end loop;
  if not exists (select from pg_roles where rolname = 'authenticator') then
    create role authenticator login noinherit;
  end if;
end
$$;

grant anon, business, warehouse, operator to authenticator;

grant usage on schema api to anon, business, warehouse, operator;
grant usage on schema internal to authenticator, anon, business, warehouse, operator;
--! EndIncluded access/roles.sql
--! Included access/refuse.sql
-- Refuses a request: ends the transaction with HTTP status `status` and a message. db/ERRORS.md lists every use.
create function internal.refuse(status integer, message text) returns void
language plpgsql stable
set search_path = ''
as $$
begin
  raise exception using errcode = 'PT' || status, message = message;
end
$$;

comment on function internal.refuse is
  'Refuses a request with an HTTP status and a one-line message (SQLSTATE PTxyz, which PostgREST answers as status xyz).';

grant execute on function internal.refuse to business, operator;
--! EndIncluded access/refuse.sql
--! Included access/settings.sql
-- What the database must know of its deployment.
create table internal.settings (
  name text primary key,
  value text not null
);

comment on table internal.settings is 'Deployment settings that SQL needs: public_url, the address that clients see.';

create function internal.setting(wanted text) returns text
language sql stable
set search_path = ''
as $$
  select value from internal.settings where name = wanted
$$;

comment on function internal.setting is 'The value of a deployment setting, null when it is not set.';
--! EndIncluded access/settings.sql
--! Included access/caller.sql
-- Who is asking, as internal.check_request found out. Empty in a direct session of the owner, a DBA or the worker.
create function internal.business_id() returns uuid
language sql stable
set search_path = ''
as $$
  select nullif(current_setting('lading.business_id', true), '')::uuid
$$;

comment on function internal.business_id is
  'The business of the key that this request carries; null for operators and direct sessions. Every tenant policy compares with it.';

create function internal.caller_role() returns text
language sql stable
set search_path = ''
as $$
  select nullif(current_setting('lading.role', true), '')
$$;

comment on function internal.caller_role is 'The role of the key that this request carries; null in direct sessions.';

grant execute on function internal.business_id, internal.caller_role to anon, business, warehouse, operator;
--! EndIncluded access/caller.sql
--! Included access/base64url.sql
-- The encoding of JWTs.
create function internal.base64url(bytes bytea) returns text
language sql immutable strict
set search_path = ''
as $$
  select translate(encode(bytes, 'base64'), E'+/=\n', '-_')
$$;

comment on function internal.base64url is 'Bytes as unpadded base64url (RFC 4648), the encoding of JWTs.';
--! EndIncluded access/base64url.sql
--! Included access/view_is_read_only.sql
-- A view that is read only says so by its missing grants (403): with this trigger on it Postgres gets as far as asking for
-- them, where else it would stop at "cannot insert into view".
create function internal.view_is_read_only() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  perform internal.refuse(405, format('%s is read only', tg_table_name));
  return null;
end
$$;

comment on function internal.view_is_read_only is 'Refuses (405) to write to a view; callers without a grant are refused (403) before.';
--! EndIncluded access/view_is_read_only.sql
--! Included access/keep_update_time.sql
-- update_time is the time of the last change, whoever made it.
create function internal.keep_update_time() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.update_time := now();
  return new;
end
$$;

comment on function internal.keep_update_time is 'Sets update_time to the time of the change.';
--! EndIncluded access/keep_update_time.sql
--! Included access/identity_is_fixed.sql
-- A record keeps its id and its business (409): triggers, ledger and events know it by these.
create function internal.identity_is_fixed() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  perform internal.refuse(409, 'id and business_id of a record cannot change');
  return null;
end
$$;

comment on function internal.identity_is_fixed is 'Refuses (409) to change the id or the business of a record.';
--! EndIncluded access/identity_is_fixed.sql
--! Included access/lock_children_first.sql
-- A change of a child holds the child and then asks for its parent; deleting the parent holds the parent and then asks for
-- the children. So that the two do not wait for each other, a deletion takes the children at once or is refused (409).
create function internal.lock_children_first() returns trigger
language plpgsql
security definer set search_path = ''
as $$
begin
  execute format(
    'select 1 from %s where business_id = $1 and %I = $2 for update nowait', tg_argv[0]::regclass, tg_argv[1]
  )
  using old.business_id, old.id;
  return old;
exception
  when lock_not_available then
    perform internal.refuse(409, 'The record is being changed at the moment: try again');
end
$$;

comment on function internal.lock_children_first is
  'Refuses (409) to delete a record one of whose children is being changed; its arguments are the child table and its column.';
--! EndIncluded access/lock_children_first.sql
--! Included access/seal_tenant_table.sql
-- Seals a tenant table: a key of one business neither sees nor writes nor refers to rows of another.
--   * row-level security, forced: a business sees its own rows, an operator and the owner all
--   * unique (business_id, id): the target of composite foreign keys, since a plain foreign key sees through RLS;
--     also the replica identity, so that one business can be replicated by itself
--   * id and business_id never change, update_time is kept
create procedure internal.seal_tenant_table(tenant_table regclass)
language plpgsql
set search_path = ''
as $$
declare
  bare_name text := (select relname::text from pg_catalog.pg_class where oid = tenant_table);
begin
  execute format('alter table %s add constraint %I unique (business_id, id)', tenant_table, bare_name || '_business_id_id_key');
  execute format('alter table %s replica identity using index %I', tenant_table, bare_name || '_business_id_id_key');
  execute format('alter table %s enable row level security, force row level security', tenant_table);
  execute format(
    'create policy own_business on %s to business using (business_id = (select internal.business_id()))', tenant_table
  );
  execute format('create policy every_business on %s to operator, current_user using (true)', tenant_table);
  execute format(
    'create trigger keep_update_time before update on %s for each row
       when (old.* is distinct from new.*) execute function internal.keep_update_time()',
    tenant_table
  );
  execute format(
    'create trigger identity_is_fixed before update on %s for each row
       when (old.id <> new.id or old.business_id <> new.business_id) execute function internal.identity_is_fixed()',
    tenant_table
  );
end
$$;

comment on procedure internal.seal_tenant_table is
  'Adds to a tenant table what keeps businesses apart: forced row-level security, the composite key that references use, update_time.';
--! EndIncluded access/seal_tenant_table.sql
--! Included catalog/currencies.sql
-- Currencies, filled with the current codes of ISO 4217. Read only: a business, order or item names one by its code.
create table api.currencies (
  alphabetic_code text primary key check (alphabetic_code ~ '^[A-Z]{3}$'),
  numeric_code text not null unique check (numeric_code ~ '^[0-9]{3}$'),
  minor_unit integer check (minor_unit between 0 and 4),
  name text not null check (name <> '')
);

comment on table api.currencies is 'Currencies of ISO 4217. Read only.';
comment on column api.currencies.alphabetic_code is 'Primary key: three letters, for example EUR.';
comment on column api.currencies.numeric_code is 'Three digits, for example 978; text, since zeros lead.';
comment on column api.currencies.minor_unit is
  'Decimal places of the minor unit that money columns of type integer count: 2 for cents, 0 where there is none; '
  'null where the standard names none (metals, funds).';
comment on column api.currencies.name is 'English name.';

insert into api.currencies (alphabetic_code, numeric_code, minor_unit, name) values
  ('AED', '784', 2, 'UAE Dirham'),
  ('AFN', '971', 2, 'Afghani'),
  ('ALL', '008', 2, 'Lek'),
  ('AMD', '051', 2, 'Armenian Dram'),
  ('AOA', '973', 2, 'Kwanza'),
  ('ARS', '032', 2, 'Argentine Peso'),
  ('AUD', '036', 2, 'Australian Dollar'),
  ('AWG', '533', 2, 'Aruban Florin'),
  ('AZN', '944', 2, 'Azerbaijan Manat'),
  ('BAM', '977', 2, 'Convertible Mark'),
  ('BBD', '052', 2, 'Barbados Dollar'),
  ('BDT', '050', 2, 'Taka'),
  ('BHD', '048', 3, 'Bahraini Dinar'),
  ('BIF', '108', 0, 'Burundi Franc'),
  ('BMD', '060', 2, 'Bermudian Dollar'),
  ('BND', '096', 2, 'Brunei Dollar'),
  ('BOB', '068', 2, 'Boliviano'),
  ('BOV', '984', 2, 'Mvdol'),
  ('BRL', '986', 2, 'Brazilian Real'),
  ('BSD', '044', 2, 'Bahamian Dollar'),
  ('BTN', '064', 2, 'Ngultrum'),
  ('BWP', '072', 2, 'Pula'),
  ('BYN', '933', 2, 'Belarusian Ruble'),
  ('BZD', '084', 2, 'Belize Dollar'),
  ('CAD', '124', 2, 'Canadian Dollar'),
  ('CDF', '976', 2, 'Congolese Franc'),
  ('CHE', '947', 2, 'WIR Euro'),
  ('CHF', '756', 2, 'Swiss Franc'),
  ('CHW', '948', 2, 'WIR Franc'),
  ('CLF', '990', 4, 'Unidad de Fomento'),
  ('CLP', '152', 0, 'Chilean Peso'),
  ('CNY', '156', 2, 'Yuan Renminbi'),
  ('COP', '170', 2, 'Colombian Peso'),
  ('COU', '970', 2, 'Unidad de Valor Real'),
  ('CRC', '188', 2, 'Costa Rican Colon'),
  ('CUP', '192', 2, 'Cuban Peso'),
  ('CVE', '132', 2, 'Cabo Verde Escudo'),
  ('CZK', '203', 2, 'Czech Koruna'),
  ('DJF', '262', 0, 'Djibouti Franc'),
  ('DKK', '208', 2, 'Danish Krone'),
  ('DOP', '214', 2, 'Dominican Peso'),
  ('DZD', '012', 2, 'Algerian Dinar'),
  ('EGP', '818', 2, 'Egyptian Pound'),
  ('ERN', '232', 2, 'Nakfa'),
  ('ETB', '230', 2, 'Ethiopian Birr'),
  ('EUR', '978', 2, 'Euro'),
  ('FJD', '242', 2, 'Fiji Dollar'),
  ('FKP', '238', 2, 'Falkland Islands Pound'),
  ('GBP', '826', 2, 'Pound Sterling'),
  ('GEL', '981', 2, 'Lari'),
  ('GHS', '936', 2, 'Ghana Cedi'),
  ('GIP', '292', 2, 'Gibraltar Pound'),
  ('GMD', '270', 2, 'Dalasi'),
  ('GNF', '324', 0, 'Guinean Franc'),
  ('GTQ', '320', 2, 'Quetzal'),
  ('GYD', '328', 2, 'Guyana Dollar'),
  ('HKD', '344', 2, 'Hong Kong Dollar'),
  ('HNL', '340', 2, 'Lempira'),
  ('HTG', '332', 2, 'Gourde'),
  ('HUF', '348', 2, 'Forint'),
  ('IDR', '360', 2, 'Rupiah'),
  ('ILS', '376', 2, 'New Israeli Sheqel'),
  ('INR', '356', 2, 'Indian Rupee'),
  ('IQD', '368', 3, 'Iraqi Dinar'),
  ('IRR', '364', 2, 'Iranian Rial'),
  ('ISK', '352', 0, 'Iceland Krona'),
  ('JMD', '388', 2, 'Jamaican Dollar'),
  ('JOD', '400', 3, 'Jordanian Dinar'),
  ('JPY', '392', 0, 'Yen'),
  ('KES', '404', 2, 'Kenyan Shilling'),
  ('KGS', '417', 2, 'Som'),
  ('KHR', '116', 2, 'Riel'),
  ('KMF', '174', 0, 'Comorian Franc'),
  ('KPW', '408', 2, 'North Korean Won'),
  ('KRW', '410', 0, 'Won'),
  ('KWD', '414', 3, 'Kuwaiti Dinar'),
  ('KYD', '136', 2, 'Cayman Islands Dollar'),
  ('KZT', '398', 2, 'Tenge'),
  ('LAK', '418', 2, 'Lao Kip'),
  ('LBP', '422', 2, 'Lebanese Pound'),
  ('LKR', '144', 2, 'Sri Lanka Rupee'),
  ('LRD', '430', 2, 'Liberian Dollar'),
  ('LSL', '426', 2, 'Loti'),
  ('LYD', '434', 3, 'Libyan Dinar'),
  ('MAD', '504', 2, 'Moroccan Dirham'),
  ('MDL', '498', 2, 'Moldovan Leu'),
  ('MGA', '969', 2, 'Malagasy Ariary'),
  ('MKD', '807', 2, 'Denar'),
  ('MMK', '104', 2, 'Kyat'),
  ('MNT', '496', 2, 'Tugrik'),
  ('MOP', '446', 2, 'Pataca'),
  ('MRU', '929', 2, 'Ouguiya'),
  ('MUR', '480', 2, 'Mauritius Rupee'),
  ('MVR', '462', 2, 'Rufiyaa'),
  ('MWK', '454', 2, 'Malawi Kwacha'),
  ('MXN', '484', 2, 'Mexican Peso'),
  ('MXV', '979', 2, 'Mexican Unidad de Inversion (UDI)'),
  ('MYR', '458', 2, 'Malaysian Ringgit'),
  ('MZN', '943', 2, 'Mozambique Metical'),
  ('NAD', '516', 2, 'Namibia Dollar'),
  ('NGN', '566', 2, 'Naira'),
  ('NIO', '558', 2, 'Cordoba Oro'),
  ('NOK', '578', 2, 'Norwegian Krone'),
  ('NPR', '524', 2, 'Nepalese Rupee'),
  ('NZD', '554', 2, 'New Zealand Dollar'),
  ('OMR', '512', 3, 'Rial Omani'),
  ('PAB', '590', 2, 'Balboa'),
  ('PEN', '604', 2, 'Sol'),
  ('PGK', '598', 2, 'Kina'),
  ('PHP', '608', 2, 'Philippine Peso'),
  ('PKR', '586', 2, 'Pakistan Rupee'),
  ('PLN', '985', 2, 'Zloty'),
  ('PYG', '600', 0, 'Guarani'),
  ('QAR', '634', 2, 'Qatari Rial'),
  ('RON', '946', 2, 'Romanian Leu'),
  ('RSD', '941', 2, 'Serbian Dinar'),
  ('RUB', '643', 2, 'Russian Ruble'),
  ('RWF', '646', 0, 'Rwanda Franc'),
  ('SAR', '682', 2, 'Saudi Riyal'),
  ('SBD', '090', 2, 'Solomon Islands Dollar'),
  ('SCR', '690', 2, 'Seychelles Rupee'),
  ('SDG', '938', 2, 'Sudanese Pound'),
  ('SEK', '752', 2, 'Swedish Krona'),
  ('SGD', '702', 2, 'Singapore Dollar'),
  ('SHP', '654', 2, 'Saint Helena Pound'),
  ('SLE', '925', 2, 'Leone'),
  ('SOS', '706', 2, 'Somali Shilling'),
  ('SRD', '968', 2, 'Surinam Dollar'),
  ('SSP', '728', 2, 'South Sudanese Pound'),
  ('STN', '930', 2, 'Dobra'),
  ('SVC', '222', 2, 'El Salvador Colon'),
  ('SYP', '760', 2, 'Syrian Pound'),
  ('SZL', '748', 2, 'Lilangeni'),
  ('THB', '764', 2, 'Baht'),
  ('TJS', '972', 2, 'Somoni'),
  ('TMT', '934', 2, 'Turkmenistan New Manat'),
  ('TND', '788', 3, 'Tunisian Dinar'),
  ('TOP', '776', 2, 'Pa''anga'),
  ('TRY', '949', 2, 'Turkish Lira'),
  ('TTD', '780', 2, 'Trinidad and Tobago Dollar'),
  ('TWD', '901', 2, 'New Taiwan Dollar'),
  ('TZS', '834', 2, 'Tanzanian Shilling'),
  ('UAH', '980', 2, 'Hryvnia'),
  ('UGX', '800', 0, 'Uganda Shilling'),
  ('USD', '840', 2, 'US Dollar'),
  ('USN', '997', 2, 'US Dollar (Next day)'),
  ('UYI', '940', 0, 'Uruguay Peso en Unidades Indexadas (UI)'),
  ('UYU', '858', 2, 'Peso Uruguayo'),
  ('UYW', '927', 4, 'Unidad Previsional'),
  ('UZS', '860', 2, 'Uzbekistan Sum'),
  ('VED', '926', 2, 'Bolívar Soberano'),
  ('VES', '928', 2, 'Bolívar Soberano'),
  ('VND', '704', 0, 'Dong'),
  ('VUV', '548', 0, 'Vatu'),
  ('WST', '882', 2, 'Tala'),
  ('XAD', '396', 2, 'Arab Accounting Dinar'),
  ('XAF', '950', 0, 'CFA Franc BEAC'),
  ('XAG', '961', null, 'Silver'),
  ('XAU', '959', null, 'Gold'),
  ('XBA', '955', null, 'Bond Markets Unit European Composite Unit (EURCO)'),
  ('XBB', '956', null, 'Bond Markets Unit European Monetary Unit (E.M.U.-6)'),
  ('XBC', '957', null, 'Bond Markets Unit European Unit of Account 9 (E.U.A.-9)'),
  ('XBD', '958', null, 'Bond Markets Unit European Unit of Account 17 (E.U.A.-17)'),
  ('XCD', '951', 2, 'East Caribbean Dollar'),
  ('XCG', '532', 2, 'Caribbean Guilder'),
  ('XDR', '960', null, 'SDR (Special Drawing Right)'),
  ('XOF', '952', 0, 'CFA Franc BCEAO'),
  ('XPD', '964', null, 'Palladium'),
  ('XPF', '953', 0, 'CFP Franc'),
  ('XPT', '962', null, 'Platinum'),
  ('XSU', '994', null, 'Sucre'),
  ('XTS', '963', null, 'Codes specifically reserved for testing purposes'),
  ('XUA', '965', null, 'ADB Unit of Account'),
  ('XXX', '999', null, 'The codes assigned for transactions where no currency is involved'),
  ('YER', '886', 2, 'Yemeni Rial'),
  ('ZAR', '710', 2, 'Rand'),
  ('ZMW', '967', 2, 'Zambian Kwacha'),
  ('ZWG', '924', 2, 'Zimbabwe Gold');

alter table api.currencies enable row level security, force row level security;
create policy every_row on api.currencies using (true);

grant select on api.currencies to business, operator;
--! EndIncluded catalog/currencies.sql
--! Included access/businesses.sql
-- The tenants. Operators create them; a business key reads and updates its own.
create table api.businesses (
  id uuid primary key default uuidv7(),
  name text not null check (name <> ''),
  alphabetic_currency_code text references api.currencies,
  timezone_id text,
  inventory_item_key text,
  legacy_id integer,
  creation_time timestamptz default now(),
  update_time timestamptz
);

create index on api.businesses (alphabetic_currency_code);

comment on table api.businesses is 'A business: the owner of all other records. Created by operators; a business key reads and updates its own.';
comment on column api.businesses.id is 'Primary key.';
comment on column api.businesses.name is 'Name of the business.';
comment on column api.businesses.alphabetic_currency_code is 'Currency that the business keeps its books in, ISO 4217.';
comment on column api.businesses.timezone_id is 'Time zone by its IANA name, for example Europe/Berlin; must be one that Postgres knows.';
comment on column api.businesses.inventory_item_key is 'How the business identifies its items in other systems.';
comment on column api.businesses.legacy_id is 'Number of the business in an earlier system.';
comment on column api.businesses.creation_time is 'When the record was created.';
comment on column api.businesses.update_time is 'When the record was last changed.';

alter table api.businesses enable row level security, force row level security;
create policy own_business on api.businesses to business using (id = (select internal.business_id()));
create policy every_business on api.businesses to operator, current_user using (true);

create trigger keep_update_time before update on api.businesses for each row
  when (old.* is distinct from new.*) execute function internal.keep_update_time();

grant select, update on api.businesses to business;
grant select, insert, update, delete on api.businesses to operator;
--! EndIncluded access/businesses.sql
--! Included access/timezone_must_be_known.sql
-- A business's time zone is one that Postgres knows. Else 400.
create function internal.timezone_must_be_known() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if not exists (select from pg_catalog.pg_timezone_names where name = new.timezone_id) then
    perform internal.refuse(400, format('timezone_id: no time zone "%s"', new.timezone_id));
  end if;
  return new;
end
$$;

comment on function internal.timezone_must_be_known is 'Refuses (400) a business whose time zone Postgres does not know.';

create trigger timezone_must_be_known before insert or update of timezone_id on api.businesses for each row
  when (new.timezone_id is not null) execute function internal.timezone_must_be_known();
--! EndIncluded access/timezone_must_be_known.sql
--! Included access/require_business.sql
-- An RPC names a business: it must exist and be one that the caller may act for.
create function internal.require_business(business_id uuid) returns void
language plpgsql stable
security definer set search_path = ''
as $$
begin
  if business_id is null then
    perform internal.refuse_input('business_id: is required');
  elsif not exists (
    select from api.businesses b
    where b.id = require_business.business_id
      and (b.id = internal.business_id() or internal.caller_role() is distinct from 'business')
  ) then
    perform internal.refuse_input(format('business_id: no business "%s"', business_id));
  end if;
end
$$;

comment on function internal.require_business is
  'Refuses (400) a business that does not exist or is not the one of the caller''s key: the caller cannot tell which.';

grant execute on function internal.require_business to business, operator;
--! EndIncluded access/require_business.sql
--! Included access/signing_secrets.sql
-- The secrets that keys are signed with: the newest one in use signs, PostgREST accepts all that are not retired.
-- Readable by the owner only; PostgREST gets them from internal.postgrest_config, so there is one source.
create table internal.signing_secrets (
  id uuid primary key default uuidv7(),
  secret bytea not null default internal.gen_random_bytes(48) check (length(secret) >= 32),
  creation_time timestamptz not null default now(),
  retired_time timestamptz
);

comment on table internal.signing_secrets is 'Secrets that sign keys (HS256). The newest signs; a retired one is no longer accepted.';

insert into internal.signing_secrets default values;
--! EndIncluded access/signing_secrets.sql
--! Included access/api_keys.sql
-- API keys. A key is an HS256 JWT {role, jti, iat, aud} that names no business: the business is read from the row that
-- its SHA-256 finds, so that a forged or revoked key grants nothing. The key itself is not stored.
create type internal.key_role as enum ('operator', 'business', 'warehouse');

create table internal.api_keys (
  id uuid primary key default uuidv7(),
  key_hash bytea not null unique,
  signing_secret_id uuid not null references internal.signing_secrets,
  business_id uuid references api.businesses on delete cascade,
  name text not null check (name <> ''),
  role internal.key_role not null,
  creation_time timestamptz not null default now(),
  revoked_time timestamptz,
  constraint only_operators_have_no_business check ((business_id is null) = (role = 'operator'))
);

create index on internal.api_keys (business_id);
create index on internal.api_keys (signing_secret_id);

comment on table internal.api_keys is 'API keys, each by the SHA-256 of its text.';

alter table internal.api_keys enable row level security, force row level security;
create policy own_business on internal.api_keys to business using (business_id = (select internal.business_id()));
create policy every_business on internal.api_keys to operator, current_user using (true);

grant select (id, business_id, name, role, creation_time, revoked_time) on internal.api_keys to business, operator;

create view api.api_keys with (security_invoker = true) as
select id, business_id, name, role::text as role, creation_time, revoked_time
from internal.api_keys;

comment on view api.api_keys is 'API keys without their secrets. Made by rpc/create_api_key, ended by rpc/revoke_api_key.';
comment on column api.api_keys.id is 'Primary key.';
comment on column api.api_keys.business_id is 'Business that the key acts for; null for an operator key.';
comment on column api.api_keys.name is 'What the key is for, in the words of who made it.';
comment on column api.api_keys.role is 'business (read and write), warehouse (may only post callbacks) or operator (all businesses).';
comment on column api.api_keys.creation_time is 'When the key was issued.';
comment on column api.api_keys.revoked_time is 'When the key was revoked; null while it works.';

grant select on api.api_keys to business, operator;

create trigger view_is_read_only instead of insert or update or delete on api.api_keys for each row
  execute function internal.view_is_read_only();
--! EndIncluded access/api_keys.sql
--! Included access/application_keys.sql
-- Public application keys: the `apikey` header of every request. They tell which application calls and grant nothing.
create table internal.application_keys (
  id uuid primary key default uuidv7(),
  key_hash bytea not null unique,
  signing_secret_id uuid not null references internal.signing_secrets,
  name text not null check (name <> ''),
  creation_time timestamptz not null default now(),
  revoked_time timestamptz
);

create index on internal.application_keys (signing_secret_id);

comment on table internal.application_keys is 'Application keys, each by the SHA-256 of its text.';

grant select (id, name, creation_time, revoked_time) on internal.application_keys to operator;

create view api.application_keys with (security_invoker = true) as
select id, name, creation_time, revoked_time
from internal.application_keys;

comment on view api.application_keys is 'Application keys (header apikey), for operators. Made by rpc/create_application_key, ended by rpc/revoke_application_key.';
comment on column api.application_keys.id is 'Primary key.';
comment on column api.application_keys.name is 'Application that uses the key.';
comment on column api.application_keys.creation_time is 'When the key was issued.';
comment on column api.application_keys.revoked_time is 'When the key was revoked; null while it works.';

grant select on api.application_keys to operator;

create trigger view_is_read_only instead of insert or update or delete on api.application_keys for each row
  execute function internal.view_is_read_only();
--! EndIncluded access/application_keys.sql
--! Included access/issue_key.sql
-- Issues keys. What these return is the only time that a key is seen: only its hash is kept.
create function internal.sign_key(role text, key_id uuid, secret bytea) returns text
language sql stable
set search_path = ''
as $$
  with parts as (
    select internal.base64url(convert_to('{"alg":"HS256","typ":"JWT"}', 'UTF8')) || '.' ||
      internal.base64url(convert_to(json_build_object(
        'role', role, 'jti', key_id, 'iat', floor(extract(epoch from now()))::bigint, 'aud', 'lading'
      )::text, 'UTF8')) as signed
  )
  select signed || '.' || internal.base64url(internal.hmac(convert_to(signed, 'UTF8'), secret, 'sha256')) from parts
$$;

comment on function internal.sign_key is 'The text of a key: an HS256 JWT {role, jti, iat, aud}.';

create function internal.issue_key(role text, name text, business_id uuid default null, out id uuid, out key text)
language plpgsql
set search_path = ''
as $$
declare
  signing internal.signing_secrets;
begin
  id := uuidv7();
  select * into strict signing from internal.signing_secrets s where s.retired_time is null order by s.id desc limit 1;
  key := internal.sign_key(role, id, signing.secret);
  insert into internal.api_keys (id, key_hash, signing_secret_id, business_id, name, role)
  values (id, sha256(convert_to(key, 'UTF8')), signing.id, issue_key.business_id, issue_key.name, issue_key.role::internal.key_role);
end
$$;

comment on function internal.issue_key is 'Issues an API key of a role (operator, business, warehouse) and returns it, the only time that it is shown.';

create function internal.issue_application_key(name text, out id uuid, out key text)
language plpgsql
set search_path = ''
as $$
declare
  signing internal.signing_secrets;
begin
  id := uuidv7();
  select * into strict signing from internal.signing_secrets s where s.retired_time is null order by s.id desc limit 1;
  key := internal.sign_key('anon', id, signing.secret);
  insert into internal.application_keys (id, key_hash, signing_secret_id, name)
  values (id, sha256(convert_to(key, 'UTF8')), signing.id, issue_application_key.name);
end
$$;

comment on function internal.issue_application_key is 'Issues an application key and returns it, the only time that it is shown.';
--! EndIncluded access/issue_key.sql
--! Included access/identify_caller.sql
-- Who a request comes from, by its two headers. PostgREST (through internal.check_request) and the sidecar both ask here.
-- Refuses (401) a missing, unknown or revoked application key or API key.
create function internal.identify_caller(
  application_key text,
  authorization_header text,
  out role text,
  out business_id uuid,
  out api_key_id uuid
)
language plpgsql stable
security definer set search_path = ''
as $$
declare
  application_is_known boolean;
begin
  select k.role::text, k.business_id, k.id, a.id is not null
  into role, business_id, api_key_id, application_is_known
  from (values (1)) as request
  left join internal.api_keys k
    on k.key_hash = sha256(convert_to(substr(authorization_header, 8), 'UTF8')) and k.revoked_time is null
  left join internal.application_keys a
    on a.key_hash = sha256(convert_to(application_key, 'UTF8')) and a.revoked_time is null;

  if coalesce(application_key, '') = '' then
    perform internal.refuse(401, 'Header apikey is missing');
  elsif not application_is_known then
    perform internal.refuse(401, 'Header apikey: unknown or revoked application key');
  elsif authorization_header is null or authorization_header !~* '^bearer .' then
    perform internal.refuse(401, 'Header Authorization: a Bearer API key is missing');
  elsif api_key_id is null then
    perform internal.refuse(401, 'Header Authorization: unknown or revoked API key');
  end if;
end
$$;

comment on function internal.identify_caller is
  'The role, business and key of a request, from its headers apikey and Authorization. Refuses (401) what is missing, unknown or revoked.';

grant execute on function internal.identify_caller to authenticator;
--! EndIncluded access/identify_caller.sql
--! Included access/check_request.sql
-- PostgREST's db-pre-request: runs first in the transaction of every request, finds the caller and sets what policies read.
create function internal.check_request() returns void
language plpgsql
security definer set search_path = ''
as $$
declare
  headers json := current_setting('request.headers', true)::json;
  caller record;
begin
  caller := internal.identify_caller(headers ->> 'apikey', headers ->> 'authorization');
  if caller.role <> current_setting('role') then
    perform internal.refuse(401, 'Header Authorization: unknown or revoked API key');
  end if;
  perform internal.act_as(caller.role, caller.business_id);
end
$$;

comment on function internal.check_request is
  'Checks the keys of a PostgREST request (401) and sets the business that row-level security lets it see.';

grant execute on function internal.check_request to anon, business, warehouse, operator;

create function internal.act_as(role text, business_id uuid) returns void
language sql
set search_path = ''
as $$
  select
    set_config('lading.role', act_as.role, true),
    set_config('lading.business_id', coalesce(act_as.business_id::text, ''), true)
$$;

comment on function internal.act_as is 'Sets for this transaction whose rows policies show.';
--! EndIncluded access/check_request.sql
--! Included access/postgrest_config.sql
-- PostgREST's db-pre-config: hands it the secrets that keys are signed with, as a JWK set without key ids,
-- so that every secret not yet retired is accepted.
create function internal.postgrest_config() returns void
language sql
security definer set search_path = ''
as $$
  select
    set_config('pgrst.jwt_secret', json_build_object('keys', json_agg(
      json_build_object('kty', 'oct', 'alg', 'HS256', 'k', internal.base64url(secret)) order by id desc
    ))::text, true),
    set_config('pgrst.jwt_aud', 'lading', true)
  from internal.signing_secrets
  where retired_time is null
$$;

comment on function internal.postgrest_config is 'Configures PostgREST from the database: signing secrets and audience of keys.';

grant execute on function internal.postgrest_config to authenticator;
--! EndIncluded access/postgrest_config.sql
--! Included access/rotate_signing_secret.sql
-- Rotation: a new secret signs from now on, keys signed with the old one work until it is retired; then they are revoked.
create function internal.rotate_signing_secret() returns uuid
language plpgsql
set search_path = ''
as $$
declare
  new_id uuid;
begin
  insert into internal.signing_secrets default values returning id into new_id;
  notify pgrst, 'reload config';
  return new_id;
end
$$;

comment on function internal.rotate_signing_secret is
  'Starts to sign keys with a new secret and returns its id. Keys signed before stay valid until their secret is retired.';

create function internal.retire_signing_secret(secret_id uuid) returns void
language plpgsql
set search_path = ''
as $$
begin
  if not exists (select from internal.signing_secrets where retired_time is null and id > secret_id) then
    perform internal.refuse(409, 'The newest signing secret cannot be retired: rotate first');
  end if;
  update internal.signing_secrets set retired_time = now() where id = secret_id and retired_time is null;
  update internal.api_keys set revoked_time = now() where signing_secret_id = secret_id and revoked_time is null;
  update internal.application_keys set revoked_time = now() where signing_secret_id = secret_id and revoked_time is null;
  notify pgrst, 'reload config';
end
$$;

comment on function internal.retire_signing_secret is
  'Ends a signing secret: keys signed with it are revoked at once. Refused (409) for the newest one.';
--! EndIncluded access/rotate_signing_secret.sql
--! Included access/create_api_key.sql
-- A business key issues and revokes business and warehouse keys of its own business, an operator any.
create function api.create_api_key(business_id uuid default null, name text default null, role text default 'business')
returns jsonb
language plpgsql
security definer set search_path = ''
as $$
declare
  issued record;
begin
  if coalesce(name, '') = '' then
    perform internal.refuse_input('name: is required');
  elsif role is null or role not in ('business', 'warehouse', 'operator') then
    perform internal.refuse_input('role: must be business, warehouse or operator');
  elsif (business_id is null) <> (role = 'operator') then
    perform internal.refuse_input('business_id: is required for a business or warehouse key, and not allowed for an operator key');
  end if;

  if internal.caller_role() is distinct from 'operator' and (role = 'operator' or business_id is distinct from internal.business_id()) then
    raise insufficient_privilege using message = 'A business key may only issue business and warehouse keys of its own business';
  end if;
  if business_id is not null then
    perform internal.require_business(business_id);
  end if;

  issued := internal.issue_key(role, name, business_id);
  return jsonb_build_object('id', issued.id, 'key', issued.key);
end
$$;

comment on function api.create_api_key is
  'Issues an API key: {business_id, name, role: business | warehouse | operator} gives {id, key}. The key is shown only here. '
  'A business key may issue business and warehouse keys of its own business (else 403), an operator any.';

grant execute on function api.create_api_key to business, operator;

create function api.revoke_api_key(id uuid) returns void
language plpgsql
security definer set search_path = ''
as $$
begin
  update internal.api_keys k
  set revoked_time = coalesce(k.revoked_time, now())
  where k.id = revoke_api_key.id
    and (internal.caller_role() = 'operator' or k.business_id = internal.business_id());
  if not found then
    perform internal.refuse(404, 'id: no such API key');
  end if;
end
$$;

comment on function api.revoke_api_key is
  'Revokes an API key by its id; it stops working with the next request. 404 when there is no such key of the business.';

grant execute on function api.revoke_api_key to business, operator;
--! EndIncluded access/create_api_key.sql
--! Included access/create_application_key.sql
-- Operators issue and revoke application keys.
create function api.create_application_key(name text) returns jsonb
language plpgsql
security definer set search_path = ''
as $$
declare
  issued record;
begin
  if coalesce(name, '') = '' then
    perform internal.refuse_input('name: is required');
  end if;
  issued := internal.issue_application_key(name);
  return jsonb_build_object('id', issued.id, 'key', issued.key);
end
$$;

comment on function api.create_application_key is
  'Issues an application key (header apikey): {name} gives {id, key}. The key is shown only here. Operators only.';

grant execute on function api.create_application_key to operator;

create function api.revoke_application_key(id uuid) returns void
language plpgsql
security definer set search_path = ''
as $$
begin
  update internal.application_keys k
  set revoked_time = coalesce(k.revoked_time, now())
  where k.id = revoke_application_key.id;
  if not found then
    perform internal.refuse(404, 'id: no such application key');
  end if;
end
$$;

comment on function api.revoke_application_key is
  'Revokes an application key by its id; requests that carry it are refused (401) from now on. Operators only.';

grant execute on function api.revoke_application_key to operator;
--! EndIncluded access/create_application_key.sql
-- catalog: what a business keeps and sells
--! Included catalog/short_text.sql
-- What the interface calls short text.
create domain api.short_text as varchar(255);

comment on domain api.short_text is 'Text of at most 255 characters.';
--! EndIncluded catalog/short_text.sql
--! Included catalog/addresses.sql
-- Postal addresses of a business: where it bills, ships from and ships to.
create table api.addresses (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  name text,
  first_name text,
  last_name text,
  company text,
  address_1 text,
  address_2 text,
  address_3 text,
  city text,
  province text,
  province_code text,
  postal_code text,
  country text,
  country_code text,
  phone text,
  contact_name text,
  contact_phone text,
  contact_email text,
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  creation_time timestamptz default now(),
  update_time timestamptz
);

call internal.seal_tenant_table('api.addresses');
create index on api.addresses using gin (external_ids jsonb_path_ops);

comment on table api.addresses is 'Postal addresses. Orders, customers, locations and shipments refer to them.';
comment on column api.addresses.id is 'Primary key.';
comment on column api.addresses.business_id is 'Business that the address belongs to.';
comment on column api.addresses.name is 'Full name of the addressee.';
comment on column api.addresses.first_name is 'First name of the addressee.';
comment on column api.addresses.last_name is 'Last name of the addressee.';
comment on column api.addresses.company is 'Company of the addressee.';
comment on column api.addresses.address_1 is 'First line: street and number.';
comment on column api.addresses.address_2 is 'Second line.';
comment on column api.addresses.address_3 is 'Third line.';
comment on column api.addresses.city is 'City.';
comment on column api.addresses.province is 'Province or state by name.';
comment on column api.addresses.province_code is 'Province or state by code, for example CA.';
comment on column api.addresses.postal_code is 'Postal code.';
comment on column api.addresses.country is 'Country by name.';
comment on column api.addresses.country_code is 'Country by code, ISO 3166-1, for example US.';
comment on column api.addresses.phone is 'Phone number of the addressee.';
comment on column api.addresses.contact_name is 'Whom to ask at the address.';
comment on column api.addresses.contact_phone is 'Phone number of the contact.';
comment on column api.addresses.contact_email is 'E-mail address of the contact.';
comment on column api.addresses.external_ids is 'Ids of the address in other systems, a JSON object.';
comment on column api.addresses.additional_fields is 'Free fields, a JSON object.';
comment on column api.addresses.creation_time is 'When the record was created.';
comment on column api.addresses.update_time is 'When the record was last changed.';

grant select, insert, update, delete on api.addresses to business, operator;
--! EndIncluded catalog/addresses.sql
--! Included catalog/locations.sql
-- Locations of a business: where stock is kept. Callbacks and location maps name one by its id or its legacy_id.
create table api.locations (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  name text not null check (name <> ''),
  legacy_id integer,
  is_virtual boolean not null default false,
  address_id uuid,
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  creation_time timestamptz default now(),
  update_time timestamptz,
  unique (business_id, name),
  unique (business_id, legacy_id),
  foreign key (business_id, address_id) references api.addresses (business_id, id)
);

create index on api.locations (business_id, address_id);

call internal.seal_tenant_table('api.locations');

comment on table api.locations is
  'Places that inventory is kept at: warehouses, stores, and virtual ones that a sales channel sells from.';
comment on column api.locations.id is 'Primary key.';
comment on column api.locations.business_id is 'Business that the location belongs to.';
comment on column api.locations.name is 'Name, unique in the business.';
comment on column api.locations.legacy_id is
  'Number of the location in an earlier system, unique in the business. A locationId in a message may be this '
  'number as text.';
comment on column api.locations.is_virtual is
  'Whether the location is not a place but the stock that a sales channel may promise.';
comment on column api.locations.address_id is 'Address of the location.';
comment on column api.locations.external_ids is 'Ids of the location in other systems, a JSON object.';
comment on column api.locations.additional_fields is 'Free fields, a JSON object.';
comment on column api.locations.creation_time is 'When the record was created.';
comment on column api.locations.update_time is 'When the record was last changed.';

grant select, insert, update, delete on api.locations to business, operator;
--! EndIncluded catalog/locations.sql
--! Included catalog/find_location.sql
-- A locationId on the wire is the id of a location, or its legacy_id as text. Finds it in one business; null when there
-- is none.
create function internal.find_location(business_id uuid, written text) returns uuid
language plpgsql stable
set search_path = ''
as $$
begin
  if pg_input_is_valid(written, 'uuid') then
    return (select l.id from api.locations l where l.business_id = find_location.business_id and l.id = written::uuid);
  elsif written ~ '^(0|-?[1-9][0-9]*)$' and pg_input_is_valid(written, 'integer') then
    return (
      select l.id from api.locations l where l.business_id = find_location.business_id and l.legacy_id = written::integer
    );
  end if;
  return null;
end
$$;

comment on function internal.find_location is
  'The location of a business that a locationId names: by its id, or by its legacy_id as text. Null when there is '
  'none.';

grant execute on function internal.find_location to business, operator;
--! EndIncluded catalog/find_location.sql
--! Included catalog/channels.sql
-- Sales channels of a business: where orders come from.
create table api.channels (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  name text not null check (name <> ''),
  location_id uuid,
  is_enabled boolean not null default true,
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  creation_time timestamptz default now(),
  update_time timestamptz,
  unique (business_id, name),
  foreign key (business_id, location_id) references api.locations (business_id, id)
);

create index on api.channels (business_id, location_id);

call internal.seal_tenant_table('api.channels');

comment on table api.channels is 'Sales channels that orders are placed on.';
comment on column api.channels.id is 'Primary key.';
comment on column api.channels.business_id is 'Business that the channel belongs to.';
comment on column api.channels.name is 'Name, unique in the business.';
comment on column api.channels.location_id is
  'Virtual location of the channel: the lines of its sales orders are committed there. Null: they are committed '
  'nowhere.';
comment on column api.channels.is_enabled is 'Whether the business sells on the channel at present.';
comment on column api.channels.external_ids is 'Ids of the channel in other systems, a JSON object.';
comment on column api.channels.additional_fields is 'Free fields, a JSON object.';
comment on column api.channels.creation_time is 'When the record was created.';
comment on column api.channels.update_time is 'When the record was last changed.';

grant select, insert, update, delete on api.channels to business, operator;
--! EndIncluded catalog/channels.sql
--! Included catalog/customers.sql
-- Customers of a business: who places its orders.
create table api.customers (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  name text,
  first_name text,
  last_name text,
  email text,
  phone text,
  billing_address_id uuid,
  shipping_address_id uuid,
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  creation_time timestamptz default now(),
  update_time timestamptz,
  foreign key (business_id, billing_address_id) references api.addresses (business_id, id),
  foreign key (business_id, shipping_address_id) references api.addresses (business_id, id)
);

create index on api.customers (business_id, billing_address_id);
create index on api.customers (business_id, shipping_address_id);

call internal.seal_tenant_table('api.customers');
create index on api.customers using gin (external_ids jsonb_path_ops);

comment on table api.customers is 'Customers who place orders.';
comment on column api.customers.id is 'Primary key.';
comment on column api.customers.business_id is 'Business that the customer buys from.';
comment on column api.customers.name is 'Full name.';
comment on column api.customers.first_name is 'First name.';
comment on column api.customers.last_name is 'Last name.';
comment on column api.customers.email is 'E-mail address.';
comment on column api.customers.phone is 'Phone number.';
comment on column api.customers.billing_address_id is
  'Address that the customer is billed at, unless an order says otherwise.';
comment on column api.customers.shipping_address_id is
  'Address that the customer is shipped to, unless an order says otherwise.';
comment on column api.customers.external_ids is 'Ids of the customer in other systems, a JSON object.';
comment on column api.customers.additional_fields is 'Free fields, a JSON object.';
comment on column api.customers.creation_time is 'When the record was created.';
comment on column api.customers.update_time is 'When the record was last changed.';

grant select, insert, update, delete on api.customers to business, operator;
--! EndIncluded catalog/customers.sql
--! Included catalog/inventory_items.sql
-- Inventory items of a business: what it stocks, each known by its SKU.
create table api.inventory_items (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  sku text not null check (sku <> ''),
  title text,
  upc text,
  legacy_id integer,
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  creation_time timestamptz default now(),
  update_time timestamptz,
  unique (business_id, sku)
);

call internal.seal_tenant_table('api.inventory_items');

comment on table api.inventory_items is
  'Items that are stocked, sold and shipped. product_data describes them further.';
comment on column api.inventory_items.id is 'Primary key.';
comment on column api.inventory_items.business_id is 'Business that stocks the item.';
comment on column api.inventory_items.sku is 'Stock keeping unit, unique in the business.';
comment on column api.inventory_items.title is 'Title of the item.';
comment on column api.inventory_items.upc is 'Universal product code.';
comment on column api.inventory_items.legacy_id is 'Number of the item in an earlier system.';
comment on column api.inventory_items.external_ids is 'Ids of the item in other systems, a JSON object.';
comment on column api.inventory_items.additional_fields is 'Free fields, a JSON object.';
comment on column api.inventory_items.creation_time is 'When the record was created.';
comment on column api.inventory_items.update_time is 'When the record was last changed.';

grant select, insert, update, delete on api.inventory_items to business, operator;
--! EndIncluded catalog/inventory_items.sql
--! Included catalog/product_data.sql
-- Product data: one row per SKU of a business, which describes the inventory item of that SKU.
-- The item is made where it is missing. When the SKU of the item changes, that of its product data follows; when the item
-- is deleted, its product data is.
create table api.product_data (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  sku api.short_text not null check (sku <> ''),
  jwt text,
  name api.short_text,
  hs_code api.short_text,
  country_of_origin api.short_text,
  cost numeric,
  landed_cost numeric,
  price numeric,
  wholesale_price numeric,
  image text,
  upc text,
  length_mm integer,
  height_mm integer,
  width_mm integer,
  weight_grams integer,
  is_active boolean default true,
  option_name_1 api.short_text,
  option_name_2 api.short_text,
  option_name_3 api.short_text,
  option_name_4 api.short_text,
  option_name_5 api.short_text,
  option_name_6 api.short_text,
  option_value_1 api.short_text,
  option_value_2 api.short_text,
  option_value_3 api.short_text,
  option_value_4 api.short_text,
  option_value_5 api.short_text,
  option_value_6 api.short_text,
  tags text[],
  category_1 api.short_text,
  category_2 api.short_text,
  category_3 api.short_text,
  category_4 api.short_text,
  category_5 api.short_text,
  category_6 api.short_text,
  creation_time timestamptz default now(),
  update_time timestamptz,
  unique (business_id, sku),
  foreign key (business_id, sku) references api.inventory_items (business_id, sku)
    on update cascade on delete cascade deferrable initially deferred
);

call internal.seal_tenant_table('api.product_data');

comment on table api.product_data is
  'Product data of inventory items, one row per SKU. Creating one creates or updates the inventory item of that SKU.';
comment on column api.product_data.id is 'Primary key.';
comment on column api.product_data.business_id is 'Business that the product belongs to.';
comment on column api.product_data.sku is
  'Stock keeping unit of the item described, unique in the business. At most 255 characters, like every short text '
  'here.';
comment on column api.product_data.jwt is 'Accepted and never stored: always null.';
comment on column api.product_data.name is 'Name of the product; becomes the title of the inventory item unless null.';
comment on column api.product_data.hs_code is 'Harmonized System code, for customs.';
comment on column api.product_data.country_of_origin is 'Country that the product was made in.';
comment on column api.product_data.cost is 'What a unit costs to buy or make, in the currency of the business.';
comment on column api.product_data.landed_cost is
  'What a unit costs on arrival, with freight and duties, in the currency of the business.';
comment on column api.product_data.price is 'What a unit sells for, in the currency of the business.';
comment on column api.product_data.wholesale_price is
  'What a unit sells for to resellers, in the currency of the business.';
comment on column api.product_data.image is 'Address of a picture.';
comment on column api.product_data.upc is 'Universal product code; becomes that of the inventory item unless null.';
comment on column api.product_data.length_mm is 'Length in millimetres.';
comment on column api.product_data.height_mm is 'Height in millimetres.';
comment on column api.product_data.width_mm is 'Width in millimetres.';
comment on column api.product_data.weight_grams is 'Weight in grams.';
comment on column api.product_data.is_active is 'Whether the product is on sale.';
comment on column api.product_data.option_name_1 is 'Name of option 1, for example Size.';
comment on column api.product_data.option_value_1 is 'Value of option 1, for example L.';
comment on column api.product_data.option_name_2 is 'Name of option 2, for example Color.';
comment on column api.product_data.option_value_2 is 'Value of option 2, for example Red.';
comment on column api.product_data.option_name_3 is 'Name of option 3, for example Material.';
comment on column api.product_data.option_value_3 is 'Value of option 3, for example Wool.';
comment on column api.product_data.option_name_4 is 'Name of option 4, for example Style.';
comment on column api.product_data.option_value_4 is 'Value of option 4, for example Classic.';
comment on column api.product_data.option_name_5 is 'Name of option 5, for example Length.';
comment on column api.product_data.option_value_5 is 'Value of option 5, for example Long.';
comment on column api.product_data.option_name_6 is 'Name of option 6, for example Pattern.';
comment on column api.product_data.option_value_6 is 'Value of option 6, for example Striped.';
comment on column api.product_data.tags is 'Tags of the product.';
comment on column api.product_data.category_1 is 'Category of the item, level 1 of 6 (the broadest).';
comment on column api.product_data.category_2 is 'Category of the item, level 2 of 6.';
comment on column api.product_data.category_3 is 'Category of the item, level 3 of 6.';
comment on column api.product_data.category_4 is 'Category of the item, level 4 of 6.';
comment on column api.product_data.category_5 is 'Category of the item, level 5 of 6.';
comment on column api.product_data.category_6 is 'Category of the item, level 6 of 6.';
comment on column api.product_data.creation_time is 'When the record was created.';
comment on column api.product_data.update_time is 'When the record was last changed.';

grant select, insert, update, delete on api.product_data to business, operator;
--! EndIncluded catalog/product_data.sql
--! Included catalog/jwt_is_never_stored.sql
-- product_data accepts a jwt, for clients that send one with every row, and forgets it at once.
create function internal.jwt_is_never_stored() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.jwt := null;
  return new;
end
$$;

comment on function internal.jwt_is_never_stored is 'Forgets the jwt that came with product data.';

create trigger jwt_is_never_stored before insert or update on api.product_data for each row
  when (new.jwt is not null) execute function internal.jwt_is_never_stored();
--! EndIncluded catalog/jwt_is_never_stored.sql
--! Included catalog/product_data_describes_an_inventory_item.sql
-- Product data describes the inventory item of its SKU.
--   writes   the item where it is missing; else its title and upc, where product data gives another name or upc
--   leaves   title and upc where product data gives none; the item of a SKU that product data no longer names
-- Items are written in the order of their SKUs, so that this trigger adds no deadlock of its own.
create function internal.product_data_describes_an_inventory_item() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  insert into api.inventory_items as i (business_id, sku, title, upc)
  select p.business_id, p.sku, p.name, p.upc
  from written p
  order by p.business_id, p.sku
  on conflict (business_id, sku) do update
  set title = coalesce(excluded.title, i.title),
      upc = coalesce(excluded.upc, i.upc)
  where (i.title, i.upc) is distinct from (coalesce(excluded.title, i.title), coalesce(excluded.upc, i.upc));
  return null;
end
$$;

comment on function internal.product_data_describes_an_inventory_item is
  'Creates or updates the inventory items whose product data a statement wrote.';

create trigger product_data_describes_an_inventory_item after insert on api.product_data
  referencing new table as written
  for each statement execute function internal.product_data_describes_an_inventory_item();

create trigger changed_product_data_describes_an_inventory_item after update on api.product_data
  referencing new table as written
  for each statement execute function internal.product_data_describes_an_inventory_item();
--! EndIncluded catalog/product_data_describes_an_inventory_item.sql
--! Included catalog/white_label.sql
-- How this installation shows itself: its name, colours and logos. One row, kept by operators.
create table api.white_label (
  id uuid primary key default uuidv7(),
  name api.short_text,
  title api.short_text,
  favicon_bucket text,
  favicon_path text,
  logo_light_bucket text,
  logo_light_path text,
  logo_dark_bucket text,
  logo_dark_path text,
  logo_url text,
  theme jsonb check (jsonb_typeof(theme) = 'object'),
  creation_time timestamptz default now(),
  update_time timestamptz
);

create unique index only_one_white_label on api.white_label ((true));

comment on table api.white_label is
  'How this installation shows itself. Exactly one row; businesses read it, operators change it.';
comment on column api.white_label.id is 'Primary key.';
comment on column api.white_label.name is 'Name of the installation.';
comment on column api.white_label.title is 'Title of its pages.';
comment on column api.white_label.favicon_bucket is 'Storage bucket of the icon of its pages.';
comment on column api.white_label.favicon_path is 'Path of that icon in its bucket.';
comment on column api.white_label.logo_light_bucket is 'Storage bucket of the logo for light backgrounds.';
comment on column api.white_label.logo_light_path is 'Path of that logo in its bucket.';
comment on column api.white_label.logo_dark_bucket is 'Storage bucket of the logo for dark backgrounds.';
comment on column api.white_label.logo_dark_path is 'Path of that logo in its bucket.';
comment on column api.white_label.logo_url is 'Address of the logo, where it is not in a bucket.';
comment on column api.white_label.theme is 'Colours and fonts, a JSON object.';
comment on column api.white_label.creation_time is 'When the record was created.';
comment on column api.white_label.update_time is 'When the record was last changed.';

insert into api.white_label (name, title) values ('Lading', 'Lading');

alter table api.white_label enable row level security, force row level security;
create policy every_row on api.white_label using (true);

create trigger keep_update_time before update on api.white_label for each row
  when (old.* is distinct from new.*) execute function internal.keep_update_time();

grant select on api.white_label to business;
grant select, update on api.white_label to operator;
--! EndIncluded catalog/white_label.sql

-- upsert: what the upsert calls share
--! Included upsert/refuse_input.sql
-- Refuses what a caller of an RPC sent: 400 with SQLSTATE P0001 and a message that names the field by its path.
create function internal.refuse_input(message text) returns void
language plpgsql stable
set search_path = ''
as $$
begin
  raise exception using errcode = 'P0001', message = message;
end
$$;

comment on function internal.refuse_input is 'Refuses the input of an RPC: 400, SQLSTATE P0001, a message "path: what is wrong".';

grant execute on function internal.refuse_input to business, operator;
--! EndIncluded upsert/refuse_input.sql
--! Included upsert/check_input.sql
-- Checks objects that a caller of an RPC sent, many at once, before anything is done with them.
-- An object may have the columns of a table and the `extra` fields; `required` ones must be there and not null.
-- Refuses (400) a field that is missing, unknown or of the wrong type, by its path: one of the first object that has such.
--   prefixes  the path of each object up to its fields: '' for the outermost, 'receipts[1].items[0].' for an inner one
--   extra     name → type: a type of Postgres, 'object', 'array' or 'positive integer'; overrides the column of that name
create function internal.check_input(
  prefixes text[],
  objects jsonb[],
  table_name regclass,
  extra jsonb,
  required text[]
) returns void
language plpgsql stable
set search_path = ''
as $$
declare
  problem text;
begin
  with columns as (
    select
      a.attname::text as name,
      format_type(t.oid, null) as type,
      case
        when t.typcategory = 'N' then 'number'
        when t.typcategory = 'B' then 'boolean'
        when t.typcategory = 'A' then 'array'
        when t.typname = 'jsonb' or t.typtype = 'c' then 'object'
        else 'string'
      end as json_type
    from pg_catalog.pg_attribute a
    join pg_catalog.pg_type t on t.oid = a.atttypid
    where a.attrelid = table_name and a.attnum > 0 and not a.attisdropped and not extra ? a.attname
  ),
  fields as (
    select name, type, json_type, false as positive from columns
    union all
    select
      key,
      replace(value, 'positive ', ''),
      case
        when value in ('object', 'array', 'boolean') then value
        when value like '%integer' or value in ('numeric', 'bigint') then 'number'
        else 'string'
      end,
      value like 'positive %'
    from jsonb_each_text(extra)
  ),
  given as (
    select o.position, o.prefix, f.position as field_position, f.key, f.value
    from unnest(prefixes, objects) with ordinality as o (prefix, object, position)
    cross join lateral jsonb_each(case when jsonb_typeof(o.object) = 'object' then o.object else '{}' end)
      with ordinality as f (key, value, position)
  ),
  problems as (
    select o.position, 0 as field_position, coalesce(nullif(rtrim(o.prefix, '.'), ''), 'input') as path, 'must be an object' as text
    from unnest(prefixes, objects) with ordinality as o (prefix, object, position)
    where jsonb_typeof(o.object) is distinct from 'object'
    union all
    select o.position, 1, o.prefix || r.name, 'is required'
    from unnest(prefixes, objects) with ordinality as o (prefix, object, position)
    cross join unnest(required) as r (name)
    where jsonb_typeof(o.object) = 'object' and coalesce(o.object -> r.name, 'null') = 'null'
    union all
    select g.position, 1 + g.field_position, g.prefix || g.key,
      case
        when f.name is null then 'is not a known field'
        when jsonb_typeof(g.value) <> f.json_type then 'must be ' || case f.json_type
          when 'object' then 'an object' when 'array' then 'an array' else 'a ' || f.json_type end
        when f.json_type = 'array' then 'must be an array of strings'
        when f.positive and (g.value #>> '{}')::numeric <= 0 then 'must be greater than 0'
        else format('"%s" is not a valid %s', left(g.value #>> '{}', 80),
          case f.type when 'timestamp with time zone' then 'date-time' else replace(f.type, 'api.', '') end)
      end
    from given g
    left join fields f on f.name = g.key
    where f.name is null
      or g.value <> 'null' and case
        when jsonb_typeof(g.value) <> f.json_type then true
        when f.json_type = 'array' then f.type <> 'array' and jsonb_path_exists(g.value, 'strict $[*] ? (@.type() != "string")')
        when f.json_type in ('object', 'boolean') then false
        when f.positive and (g.value #>> '{}')::numeric <= 0 then true
        else not pg_input_is_valid(g.value #>> '{}', f.type)
      end
  )
  select path || ': ' || text into problem from problems order by position, field_position, path limit 1;

  if problem is not null then
    perform internal.refuse_input(problem);
  end if;
end
$$;

comment on function internal.check_input is
  'Refuses (400, P0001) objects given to an RPC whose fields are missing, unknown or of the wrong type, naming the first by its path.';

grant execute on function internal.check_input to business, operator;
--! EndIncluded upsert/check_input.sql
--! Included upsert/match_existing.sql
-- Which stored rows the given objects name, within their parents: by id, else by external_ids — the stored object contains
-- every pair given, `{}` and null name nothing. An id per object, null where the object is new.
-- Refuses (409) external_ids that several rows contain, and two objects that name one row. Of several, those with the same
-- `available` are meant: what a line received usable and what it received unusable are two.
create function internal.match_existing(
  table_name regclass,
  business_id uuid,
  parent_column name,
  parents uuid[],
  prefixes text[],
  objects jsonb[]
) returns uuid[]
language plpgsql stable
set search_path = ''
as $$
declare
  has_stored boolean;
  matches uuid[] := array_fill(null::uuid, array[coalesce(cardinality(objects), 0)]);
  problem text;
begin
  -- most calls bring new rows: one look at the index per parent tells
  execute format(
    'select bool_or((select true from %s s where s.business_id = $1 and s.%I = p.id limit 1))
     from (select distinct unnest($2) as id) p',
    table_name, parent_column
  )
  into has_stored
  using business_id, parents;

  if has_stored then
    execute format($sql$
      with given as materialized (
        select prefix, position, parent, (object ->> 'id')::uuid as id,
          case when object -> 'external_ids' not in ('{}', 'null') then object -> 'external_ids' end as external_ids,
          coalesce(nullif(object -> 'available', 'null'), 'true') as available
        from unnest($1, $2, $3) with ordinality as o (parent, prefix, object, position)
      ),
      stored as materialized (
        select s.%2$I as parent, s.id, s.external_ids, coalesce(to_jsonb(s) -> 'available', 'true') as available
        from %1$s s
        where s.business_id = $4 and s.%2$I = any (array(select distinct parent from given))
      ),
      stored_pair as materialized (
        select s.parent, s.id, s.external_ids, s.available, pair.key, pair.value,
          count(*) over (partition by s.parent, pair.key, pair.value) as frequency
        from stored s
        cross join lateral jsonb_each(s.external_ids) pair
        where exists (select from given where external_ids is not null)
      ),
      -- each object is looked up by its rarest pair, so that a pair that all share costs nothing
      rarest_pair as materialized (
        select distinct on (g.position) g.position, g.parent, g.external_ids, g.available, pair.key, pair.value
        from given g
        cross join lateral jsonb_each(g.external_ids) pair
        left join (select distinct parent, key, value, frequency from stored_pair) s using (parent, key, value)
        order by g.position, s.frequency nulls first
      ),
      by_external_ids as (
        select r.position,
          coalesce(array_agg(s.id) filter (where s.available = r.available), array_agg(s.id)) as ids
        from rarest_pair r
        join stored_pair s using (parent, key, value)
        where s.external_ids @> r.external_ids
        group by 1
      ),
      matched as (
        select g.position, g.prefix, case when s.id is not null then array[s.id] else e.ids end as ids
        from given g
        left join stored s on s.parent = g.parent and s.id = g.id
        left join by_external_ids e on e.position = g.position
      )
      select
        array_agg(ids[1] order by position),
        (array_agg(prefix || 'external_ids: match several records' order by position) filter (where cardinality(ids) > 1))[1]
      from matched
    $sql$, table_name, parent_column)
    into matches, problem
    using parents, prefixes, objects, business_id;
  end if;

  if problem is null then
    select format('%s: names the same record as %s', rtrim(again, '.'), rtrim(first, '.'))
    into problem
    from (
      select max(position) as position, (array_agg(prefix order by position desc))[1] as again,
        (array_agg(prefix order by position))[1] as first
      from (
        select position, prefix, parent, coalesce(match, (object ->> 'id')::uuid) as id,
          case when object -> 'external_ids' not in ('{}', 'null') then object -> 'external_ids' end as external_ids,
          coalesce(nullif(object -> 'available', 'null'), 'true') as available
        from unnest(matches, parents, prefixes, objects) with ordinality as o (match, parent, prefix, object, position)
      ) named
      where id is not null or external_ids is not null
      group by id, case when id is null then parent end, case when id is null then external_ids end,
        case when id is null then available end
      having count(*) > 1
    ) repeated
    order by position
    limit 1;
  end if;
  if problem is not null then
    perform internal.refuse(409, problem);
  end if;
  return coalesce(matches, '{}');
end
$$;

comment on function internal.match_existing is
  'The ids of the stored rows that given objects name by id or external_ids within their parents; null for new ones. Refuses (409) what is ambiguous.';

grant execute on function internal.match_existing to business, operator;
--! EndIncluded upsert/match_existing.sql
--! Included upsert/upsert_rows.sql
-- Inserts or updates rows of a table from JSON objects that carry their id: those of `known` are updated, the others are
-- new. An id that is taken elsewhere is refused by the primary key (409).
--   * a new row has the table's defaults where the object is silent
--   * with patch, a known row keeps what the object does not name, and its JSON columns are merged by key;
--     without, it becomes the object, with defaults for the rest
--   * null for a column that cannot be null stands for its default
--   * a row that stays as it is is not written
create function internal.upsert_rows(table_name regclass, objects jsonb[], known uuid[], patch boolean) returns void
language plpgsql
set search_path = ''
as $$
declare
  columns record;
begin
  select
    string_agg(name, ', ' order by attnum) as names,
    string_agg(
      case
        when fallback = 'null' then 'after.' || name
        when attnotnull then format('coalesce(after.%s, %s)', name, fallback)
        else format('case when given.object ? %L then after.%s else %s end', attname, name, fallback)
      end,
      ', ' order by attnum
    ) as new_values,
    string_agg(name, ', ' order by attnum) filter (where changeable) as changeable,
    string_agg(
      case
        when atttypid = 'jsonb'::regtype then format(
          $sql$case when $3 and jsonb_typeof(given.object -> %1$L) = 'object' then coalesce(before.%2$s, '{}') || (given.object -> %1$L)
            when $3 or given.object ? %1$L then after.%2$s else %3$s end$sql$,
          attname, name, fallback
        )
        when attnotnull then format('coalesce(after.%1$s, case when $3 then before.%1$s else %2$s end)', name, fallback)
        when fallback = 'null' then 'after.' || name
        else format('case when $3 or given.object ? %L then after.%s else %s end', attname, name, fallback)
      end,
      ', ' order by attnum
    ) filter (where changeable) as changed_values,
    string_agg('stored.' || name, ', ' order by attnum) filter (where changeable) as stored_values,
    string_agg('changed.' || name, ', ' order by attnum) filter (where changeable) as changes
  into strict columns
  from pg_catalog.pg_attribute a
  left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  cross join lateral (
    select
      quote_ident(attname) as name,
      coalesce(pg_get_expr(d.adbin, d.adrelid), 'null') as fallback,
      attname not in ('id', 'business_id', 'creation_time', 'update_time') as changeable
  ) c
  where a.attrelid = table_name and a.attnum > 0 and not a.attisdropped;

  if known <> '{}' then
    execute format(
      $sql$
        update %1$s stored set (%2$s) = row(%3$s)
        from (
          select before.id, %4$s
          from (select object, (object ->> 'id')::uuid as id from unnest($1) as o (object) offset 0) given
          join %1$s before on before.id = given.id
          cross join lateral jsonb_populate_record(case when $3 then before else null::%1$s end, given.object) after
          where before.id = any ($2)
          offset 0
        ) changed (id, %2$s)
        where stored.id = changed.id and stored.id = any ($2) and (%5$s) is distinct from (%3$s)
      $sql$,
      table_name, columns.changeable, columns.changes, columns.changed_values, columns.stored_values
    )
    using objects, known, patch;
  end if;

  if cardinality(objects) > cardinality(known) then
    execute format(
      $sql$
        insert into %1$s (%2$s)
        select %3$s
        from unnest($1) with ordinality as given (object, position)
        cross join lateral jsonb_populate_record(null::%1$s, given.object) after
        where (given.object ->> 'id')::uuid <> all ($2)
        order by given.position
      $sql$,
      table_name, columns.names, columns.new_values
    )
    using objects, known;
  end if;
end
$$;

comment on function internal.upsert_rows is
  'Updates the known rows and inserts the others from JSON objects with ids; patch keeps what an object does not name. Rows that stay the same are not written.';

grant execute on function internal.upsert_rows to business, operator;
--! EndIncluded upsert/upsert_rows.sql
--! Included upsert/find_one.sql
-- The stored row of a business that a given object names: by id, else by the first natural key that a row has, else by
-- external_ids (409 when several rows contain the pairs given). Null when it is new. A natural key with a null is none.
-- Runs as its owner, within the business given: under row-level security no index serves external_ids.
create function internal.find_one(
  table_name regclass,
  business_id uuid,
  object jsonb,
  prefix text default '',
  natural_keys jsonb default '[]'
) returns uuid
language plpgsql stable
security definer set search_path = ''
as $$
declare
  matches uuid[];
begin
  if object ->> 'id' is not null then
    execute format('select array_agg(id) from %s where business_id = $1 and id = $2', table_name)
    into matches using business_id, (object ->> 'id')::uuid;
  end if;

  if matches is null then
    execute coalesce(
      (
        select string_agg(format('(select array[id] from %s where business_id = $1 and %s)', table_name, condition), ' union all ')
          || ' limit 1'
        from jsonb_array_elements(natural_keys) as keys (natural_key)
        cross join lateral (
          select string_agg(format('%I = %L', key, value), ' and ') as condition from jsonb_each_text(natural_key)
        ) c
        where not natural_key @? '$.* ? (@ == null)'
      ),
      'select null::uuid[]'
    )
    into matches using business_id;
  end if;

  if matches is null and object -> 'external_ids' not in ('{}', 'null') then
    execute format('select array_agg(id) from %s where business_id = $1 and external_ids @> $2', table_name)
    into matches using business_id, object -> 'external_ids';
    if cardinality(matches) > 1 then
      perform internal.refuse(409, prefix || 'external_ids: match several records');
    end if;
  end if;
  return matches[1];
end
$$;

comment on function internal.find_one is
  'The id of the stored row that a given object names by id, natural key or external_ids; null when it is new. Refuses (409) what is ambiguous.';

grant execute on function internal.find_one to business, operator;
--! EndIncluded upsert/find_one.sql
--! Included upsert/match_items.sql
-- The inventory items that lines name, by inventory_item_id or sku; null for a line that names none.
-- Refuses (400) an item that the business does not have. The names are taken out of the JSON before they are joined: a join
-- over an expression that is not leakproof cannot use an index under row-level security.
create function internal.match_items(business_id uuid, prefixes text[], lines jsonb[]) returns uuid[]
language plpgsql stable
set search_path = ''
as $$
declare
  items uuid[];
  problem text;
begin
  with l as materialized (
    select prefix, position, (line ->> 'inventory_item_id')::uuid as item_id, line ->> 'sku' as sku
    from unnest(prefixes, lines) with ordinality as o (prefix, line, position)
  )
  select
    array_agg(coalesce(by_id.id, by_sku.id) order by l.position),
    (array_agg(
      l.prefix || case
        when l.item_id is not null then format('inventory_item_id: no inventory item "%s"', l.item_id)
        else format('sku: no inventory item "%s"', l.sku)
      end
      order by l.position
    ) filter (where by_id.id is null and by_sku.id is null and (l.item_id is not null or l.sku is not null)))[1]
  into items, problem
  from l
  left join api.inventory_items by_id
    on by_id.business_id = match_items.business_id and by_id.id = l.item_id
  left join api.inventory_items by_sku
    on by_sku.business_id = match_items.business_id and by_sku.sku = l.sku and l.item_id is null;
  if problem is not null then
    perform internal.refuse_input(problem);
  end if;
  return coalesce(items, '{}');
end
$$;

comment on function internal.match_items is
  'The inventory items that lines name by inventory_item_id or sku. Refuses (400) an item that the business does not have, by path.';

grant execute on function internal.match_items to business, operator;
--! EndIncluded upsert/match_items.sql
--! Included catalog/upsert_address.sql
-- An address inside an order, customer, location or shipment: the one it names by id or external_ids, else the one that is
-- linked there now, else a new one. Null stays null.
create function internal.upsert_address(business_id uuid, address jsonb, prefix text, linked uuid, patch boolean) returns uuid
language plpgsql
set search_path = ''
as $$
declare
  known uuid;
  address_id uuid;
begin
  if coalesce(address, 'null') = 'null' then
    return null;
  end if;
  perform internal.check_input(array[prefix], array[address], 'api.addresses', '{}', '{}');
  known := internal.find_one('api.addresses', business_id, address, prefix);
  if known is null and address ->> 'id' is null then
    known := linked;
  end if;
  address_id := coalesce(known, (address ->> 'id')::uuid, uuidv7());
  perform internal.upsert_rows(
    'api.addresses',
    array[address || jsonb_build_object('id', address_id, 'business_id', business_id)],
    array_remove(array[known], null),
    patch
  );
  return address_id;
end
$$;

comment on function internal.upsert_address is 'Creates or updates an address that another record carries, and returns its id.';

grant execute on function internal.upsert_address to business, operator;
--! EndIncluded catalog/upsert_address.sql
--! Included catalog/upsert_location.sql
-- A location inside a shipment: found by id, else by legacy_id, else by name; one with a new name is created.
-- Refuses (400) an id or legacy_id that no location has.
create function internal.upsert_location(business_id uuid, location jsonb, prefix text, patch boolean) returns uuid
language plpgsql
set search_path = ''
as $$
declare
  found api.locations;
  location_id uuid;
  address_id uuid;
begin
  if coalesce(location, 'null') = 'null' then
    return null;
  end if;
  perform internal.check_input(array[prefix], array[location], 'api.locations', '{"address": "object"}', '{}');

  -- one call at a time makes a location of a name
  perform pg_advisory_xact_lock(hashtextextended(format('upsert_location %s %s', business_id, location ->> 'name'), 0));
  select l.* into found
  from api.locations l
  where l.business_id = upsert_location.business_id
    and case
      when location ->> 'id' is not null then l.id = (location ->> 'id')::uuid
      when location ->> 'legacy_id' is not null then l.legacy_id = (location ->> 'legacy_id')::integer
      else l.name = location ->> 'name'
    end;
  if found.id is null then
    if location ->> 'id' is not null then
      perform internal.refuse_input(format('%sid: no location "%s"', prefix, location ->> 'id'));
    elsif location ->> 'name' is null then
      perform internal.refuse_input(case
        when location ->> 'legacy_id' is null then format('%sname: is required', prefix)
        else format('%slegacy_id: no location "%s"', prefix, location ->> 'legacy_id')
      end);
    end if;
  end if;

  address_id := internal.upsert_address(business_id, location -> 'address', prefix || 'address.', found.address_id, patch);
  location_id := coalesce(found.id, uuidv7());
  perform internal.upsert_rows(
    'api.locations',
    array[
      location - 'address'
        || jsonb_strip_nulls(jsonb_build_object('id', location_id, 'business_id', business_id, 'address_id', address_id))
    ],
    array_remove(array[found.id], null),
    true
  );
  return location_id;
end
$$;

comment on function internal.upsert_location is
  'Finds a location by id, legacy_id or name, or creates one of a new name, and returns its id. Refuses (400) an unknown id.';

grant execute on function internal.upsert_location to business, operator;
--! EndIncluded catalog/upsert_location.sql
--! Included catalog/upsert_customer.sql
-- A customer inside an order, with addresses: the one it names by id or external_ids, else the one of the order, else new.
create function internal.upsert_customer(business_id uuid, customer jsonb, prefix text, linked uuid, patch boolean) returns uuid
language plpgsql
set search_path = ''
as $$
declare
  known uuid;
  customer_id uuid;
  stored api.customers;
begin
  if coalesce(customer, 'null') = 'null' then
    return null;
  end if;
  perform internal.check_input(
    array[prefix], array[customer], 'api.customers', '{"billing_address": "object", "shipping_address": "object"}', '{}'
  );
  known := internal.find_one('api.customers', business_id, customer, prefix);
  if known is null and customer ->> 'id' is null then
    known := linked;
  end if;
  customer_id := coalesce(known, (customer ->> 'id')::uuid, uuidv7());
  select c.* into stored from api.customers c where c.id = known;
  perform internal.upsert_rows(
    'api.customers',
    array[
      customer - '{billing_address, shipping_address}'::text[]
        || jsonb_strip_nulls(jsonb_build_object(
          'id', customer_id,
          'business_id', business_id,
          'billing_address_id', internal.upsert_address(
            business_id, customer -> 'billing_address', prefix || 'billing_address.', stored.billing_address_id, patch),
          'shipping_address_id', internal.upsert_address(
            business_id, customer -> 'shipping_address', prefix || 'shipping_address.', stored.shipping_address_id, patch)
        ))
    ],
    array_remove(array[known], null),
    patch
  );
  return customer_id;
end
$$;

comment on function internal.upsert_customer is 'Creates or updates a customer with addresses that an order carries, and returns its id.';

grant execute on function internal.upsert_customer to business, operator;
--! EndIncluded catalog/upsert_customer.sql

-- inventory: the ledger and what follows from it
--! Included inventory/inventory_adjustments.sql
-- The ledger: the only way that inventory changes. One row per change of one status of one item at one location.
create type api.inventory_status as enum (
  'available_to_sell', 'committed', 'on_hold', 'on_order', 'reserve', 'incoming', 'unavailable'
);
comment on type api.inventory_status is 'What a quantity is: available_to_sell includes committed units.';

create type api.adjustment_operation as enum ('ADJUST', 'SET');
comment on type api.adjustment_operation is 'ADJUST adds a signed change, SET brings the quantity to a value.';

create table api.inventory_adjustments (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  inventory_item_id uuid not null,
  location_id uuid not null,
  inventory_status api.inventory_status not null,
  operation api.adjustment_operation not null default 'ADJUST',
  quantity bigint not null,
  quantity_after bigint not null,
  cause_type text not null,
  cause_id uuid,
  memo text,
  idempotency_key text,
  effective_time timestamptz not null default now(),
  creation_time timestamptz default now(),
  update_time timestamptz,
  foreign key (business_id, inventory_item_id) references api.inventory_items (business_id, id),
  foreign key (business_id, location_id) references api.locations (business_id, id),
  constraint quantities_stay_within_a_trillion check (quantity_after between -1000000000000 and 1000000000000),
  constraint committed_and_incoming_are_not_negative
    check (inventory_status not in ('committed', 'incoming') or quantity_after >= 0),
  constraint inventory_adjustments_idempotency_key unique (business_id, idempotency_key)
);

create index on api.inventory_adjustments (business_id, inventory_item_id, location_id);
create index on api.inventory_adjustments (business_id, location_id);
create index on api.inventory_adjustments (business_id, cause_id);

comment on table api.inventory_adjustments is
  'The inventory ledger, append-only: each entry is one change of one quantity. Current quantities (inventory_quantities) are the sums of these. Read only; write by rpc/adjust_inventory.';
comment on column api.inventory_adjustments.id is 'Primary key; grows with time.';
comment on column api.inventory_adjustments.business_id is 'Business that owns the stock.';
comment on column api.inventory_adjustments.inventory_item_id is 'Item whose quantity changed.';
comment on column api.inventory_adjustments.location_id is 'Location at which it changed.';
comment on column api.inventory_adjustments.inventory_status is 'Which of the quantities changed.';
comment on column api.inventory_adjustments.operation is 'ADJUST: the change was given; SET: the quantity to reach was given.';
comment on column api.inventory_adjustments.quantity is 'The signed change in units, for SET too.';
comment on column api.inventory_adjustments.quantity_after is 'The quantity in units after this entry.';
comment on column api.inventory_adjustments.cause_type is
  'What caused the entry: adjust_inventory, shipment, shipment_receipt, order_line_item or fulfillment.';
comment on column api.inventory_adjustments.cause_id is 'Id of the record that caused the entry; null for adjust_inventory.';
comment on column api.inventory_adjustments.memo is 'Why, in words.';
comment on column api.inventory_adjustments.idempotency_key is 'Key that the caller gave so that a repetition changes nothing; unique in the business.';
comment on column api.inventory_adjustments.effective_time is 'When the change took effect.';
comment on column api.inventory_adjustments.creation_time is 'When the entry was written.';
comment on column api.inventory_adjustments.update_time is 'Always null: entries never change.';

call internal.seal_tenant_table('api.inventory_adjustments');
grant select on api.inventory_adjustments to business, operator;
--! EndIncluded inventory/inventory_adjustments.sql
--! Included inventory/ledger_is_append_only.sql
-- A ledger entry is never changed or removed, by anyone, the owner included: a mistake is mended by another entry.
create function internal.ledger_is_append_only() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  perform internal.refuse(409, 'The inventory ledger is append-only: post a further adjustment instead');
  return null;
end
$$;

comment on function internal.ledger_is_append_only is 'Refuses (409) UPDATE, DELETE and TRUNCATE of the inventory ledger.';

create trigger ledger_is_append_only before update or delete or truncate on api.inventory_adjustments
  for each statement execute function internal.ledger_is_append_only();
--! EndIncluded inventory/ledger_is_append_only.sql
--! Included inventory/inventory_levels.sql
-- Current quantities, one row per item and location, kept by quantities_follow_the_ledger.sql. Served as inventory_quantities.
create table internal.inventory_levels (
  business_id uuid not null,
  location_id uuid not null,
  inventory_item_id uuid not null,
  available_to_sell bigint not null default 0,
  committed bigint not null default 0 constraint committed_is_not_negative check (committed >= 0),
  on_hold bigint not null default 0,
  on_order bigint not null default 0,
  reserve bigint not null default 0,
  incoming bigint not null default 0 constraint incoming_is_not_negative check (incoming >= 0),
  unavailable bigint not null default 0,
  primary key (business_id, location_id, inventory_item_id),
  foreign key (business_id, location_id) references api.locations (business_id, id) on delete cascade,
  foreign key (business_id, inventory_item_id) references api.inventory_items (business_id, id) on delete cascade
) with (fillfactor = 70);

create index on internal.inventory_levels (business_id, inventory_item_id);

comment on table internal.inventory_levels is 'Current quantities per item and location: the sums of the ledger, kept by a trigger.';

alter table internal.inventory_levels replica identity using index inventory_levels_pkey;
alter table internal.inventory_levels enable row level security, force row level security;
create policy own_business on internal.inventory_levels to business using (business_id = (select internal.business_id()));
create policy every_business on internal.inventory_levels to operator, current_user using (true);

grant select on internal.inventory_levels to business, operator;
--! EndIncluded inventory/inventory_levels.sql
--! Included inventory/inventory_quantities.sql
-- Current quantities per item and location (docs/api.md). Two are derived and stored nowhere:
-- on_hand is what lies there, available_to_promise what may still be sold.
create view api.inventory_quantities with (security_invoker = true) as
select
  level.business_id,
  level.inventory_item_id,
  level.location_id,
  level.available_to_sell,
  level.committed,
  level.available_to_sell + level.on_hold + level.unavailable as on_hand,
  level.on_hold,
  level.on_order,
  level.reserve,
  level.incoming,
  level.unavailable,
  level.available_to_sell - level.committed - level.reserve as available_to_promise,
  item.sku,
  item.title,
  location.name as location,
  location.legacy_id as location_legacy_id,
  item.legacy_id as inventory_item_legacy_id
from internal.inventory_levels as level
join api.inventory_items as item on item.business_id = level.business_id and item.id = level.inventory_item_id
join api.locations as location on location.business_id = level.business_id and location.id = level.location_id;

comment on view api.inventory_quantities is 'Current quantities per inventory item and location, in units. Read only; the sums of inventory_adjustments.';
comment on column api.inventory_quantities.business_id is 'Business that owns the stock.';
comment on column api.inventory_quantities.inventory_item_id is 'Inventory item.';
comment on column api.inventory_quantities.location_id is 'Location.';
comment on column api.inventory_quantities.available_to_sell is 'Units in sellable condition, committed ones included.';
comment on column api.inventory_quantities.committed is 'Units promised to orders and fulfillments; never below 0.';
comment on column api.inventory_quantities.on_hand is 'Units that are there: available_to_sell + on_hold + unavailable.';
comment on column api.inventory_quantities.on_hold is 'Units held back.';
comment on column api.inventory_quantities.on_order is 'Units ordered from suppliers.';
comment on column api.inventory_quantities.reserve is 'Units reserved.';
comment on column api.inventory_quantities.incoming is 'Units on their way here in shipments; never below 0.';
comment on column api.inventory_quantities.unavailable is 'Units that are there but not in usable condition.';
comment on column api.inventory_quantities.available_to_promise is 'Units that may still be sold: available_to_sell − committed − reserve.';
comment on column api.inventory_quantities.sku is 'SKU of the item.';
comment on column api.inventory_quantities.title is 'Title of the item.';
comment on column api.inventory_quantities.location is 'Name of the location.';
comment on column api.inventory_quantities.location_legacy_id is 'Number of the location in an earlier system.';
comment on column api.inventory_quantities.inventory_item_legacy_id is 'Number of the item in an earlier system.';

grant select on api.inventory_quantities to business, operator;

create trigger view_is_read_only instead of insert or update or delete on api.inventory_quantities for each row
  execute function internal.view_is_read_only();
--! EndIncluded inventory/inventory_quantities.sql
--! Included inventory/quantities_follow_the_ledger.sql
-- Current quantities are the sums of the ledger: whatever is inserted there is added here, in the same statement.
create function internal.quantities_follow_the_ledger() returns trigger
language plpgsql
security definer set search_path = ''
as $$
begin
  insert into internal.inventory_levels (business_id, location_id, inventory_item_id)
  select distinct e.business_id, e.location_id, e.inventory_item_id
  from new_entries e
  left join internal.inventory_levels l using (business_id, location_id, inventory_item_id)
  where l.business_id is null
  order by 1, 2, 3
  on conflict do nothing;

  update internal.inventory_levels l set
    available_to_sell = l.available_to_sell + change.available_to_sell,
    committed = l.committed + change.committed,
    on_hold = l.on_hold + change.on_hold,
    on_order = l.on_order + change.on_order,
    reserve = l.reserve + change.reserve,
    incoming = l.incoming + change.incoming,
    unavailable = l.unavailable + change.unavailable
  from (
    select
      business_id, location_id, inventory_item_id,
      coalesce(sum(quantity) filter (where inventory_status = 'available_to_sell'), 0) as available_to_sell,
      coalesce(sum(quantity) filter (where inventory_status = 'committed'), 0) as committed,
      coalesce(sum(quantity) filter (where inventory_status = 'on_hold'), 0) as on_hold,
      coalesce(sum(quantity) filter (where inventory_status = 'on_order'), 0) as on_order,
      coalesce(sum(quantity) filter (where inventory_status = 'reserve'), 0) as reserve,
      coalesce(sum(quantity) filter (where inventory_status = 'incoming'), 0) as incoming,
      coalesce(sum(quantity) filter (where inventory_status = 'unavailable'), 0) as unavailable
    from new_entries
    group by business_id, location_id, inventory_item_id
  ) change
  where (l.business_id, l.location_id, l.inventory_item_id)
    = (change.business_id, change.location_id, change.inventory_item_id);

  return null;
end
$$;

comment on function internal.quantities_follow_the_ledger is 'Adds new ledger entries to the current quantities.';

create trigger quantities_follow_the_ledger after insert on api.inventory_adjustments
  referencing new table as new_entries
  for each statement execute function internal.quantities_follow_the_ledger();
--! EndIncluded inventory/quantities_follow_the_ledger.sql
--! Included inventory/ledger_entry.sql
-- What writers of the ledger hand to internal.post_to_ledger.
create type internal.ledger_entry as (
  business_id uuid,
  location_id uuid,
  inventory_item_id uuid,
  inventory_status api.inventory_status,
  operation api.adjustment_operation,
  quantity bigint,
  cause_type text,
  cause_id uuid,
  memo text,
  idempotency_key text
);

comment on type internal.ledger_entry is 'An entry to post: quantity is the signed change for ADJUST, the quantity to reach for SET.';
--! EndIncluded inventory/ledger_entry.sql
--! Included inventory/lock_levels.sql
-- Locks current quantities in (location, item) order, the one order that keeps writers from deadlocking.
create function internal.lock_levels(entries internal.ledger_entry[]) returns void
language sql
set search_path = ''
as $$
  select from internal.inventory_levels
  where (business_id, location_id, inventory_item_id) in (
    select business_id, location_id, inventory_item_id from unnest(entries)
  )
  order by business_id, location_id, inventory_item_id
  for no key update
$$;

comment on function internal.lock_levels is 'Locks the current quantities that ledger entries will change.';
--! EndIncluded inventory/lock_levels.sql
--! Included inventory/post_to_ledger.sql
-- Posts entries to the ledger, all in one statement. Every writer of the ledger goes through here.
--   * the rows of current quantities are locked in (location, item) order first, so that no two writers deadlock
--   * quantity_after is counted from what the lock shows, entry by entry in the order given
--   * committed and incoming do not go below 0: an entry that a record causes takes what is there and is not written
--     when that is nothing; one of adjust_inventory is refused by the constraint
--     committed_and_incoming_are_not_negative (400)
create function internal.post_to_ledger(entries internal.ledger_entry[]) returns setof api.inventory_adjustments
language plpgsql
security definer set search_path = ''
as $$
begin
  -- missing rows before any lock: a writer that waits for another's new row must hold nothing
  insert into internal.inventory_levels (business_id, location_id, inventory_item_id)
  select distinct e.business_id, e.location_id, e.inventory_item_id
  from unnest(entries) e
  where not exists (
    select from internal.inventory_levels l
    where (l.business_id, l.location_id, l.inventory_item_id) = (e.business_id, e.location_id, e.inventory_item_id)
  )
  order by 1, 2, 3
  on conflict do nothing;
  perform internal.lock_levels(entries);

  return query
  with entry as (
    select
      e.*,
      case e.inventory_status
        when 'available_to_sell' then l.available_to_sell
        when 'committed' then l.committed
        when 'on_hold' then l.on_hold
        when 'on_order' then l.on_order
        when 'reserve' then l.reserve
        when 'incoming' then l.incoming
        when 'unavailable' then l.unavailable
      end as quantity_before,
      e.cause_id is not null and e.inventory_status in ('committed', 'incoming') as stops_at_zero,
      count(*) filter (where e.operation = 'SET') over same_quantity as set_number
    from unnest(entries) with ordinality as e (
      business_id, location_id, inventory_item_id, inventory_status, operation, quantity,
      cause_type, cause_id, memo, idempotency_key, position
    )
    join internal.inventory_levels l using (business_id, location_id, inventory_item_id)
    window same_quantity as (
      partition by e.business_id, e.location_id, e.inventory_item_id, e.inventory_status order by e.position
    )
  ),
  summed as (
    select
      *,
      case when set_number = 0 then quantity_before else 0 end + sum(quantity) over since_set as running_sum
    from entry
    window since_set as (
      partition by business_id, location_id, inventory_item_id, inventory_status, set_number order by position
    )
  ),
  -- a running sum that stops at zero is lifted by how far it has been below so far
  lifted as (
    select
      *,
      (running_sum + case when stops_at_zero then greatest(0, max(-running_sum) over since_set) else 0 end)::bigint
        as quantity_after
    from summed
    window since_set as (
      partition by business_id, location_id, inventory_item_id, inventory_status, set_number order by position
    )
  ),
  changed as (
    select
      *,
      quantity_after - lag(quantity_after, 1, quantity_before) over (
        partition by business_id, location_id, inventory_item_id, inventory_status order by position
      ) as change
    from lifted
  )
  insert into api.inventory_adjustments (
    business_id, inventory_item_id, location_id, inventory_status, operation, quantity, quantity_after,
    cause_type, cause_id, memo, idempotency_key
  )
  select
    business_id, inventory_item_id, location_id, inventory_status, operation, change, quantity_after,
    cause_type, cause_id, memo, idempotency_key
  from changed
  where change <> 0 or cause_id is null
  order by position
  returning *;
end
$$;

comment on function internal.post_to_ledger is
  'Posts entries to the inventory ledger and returns the rows written. The only writer of the ledger.';
--! EndIncluded inventory/post_to_ledger.sql
--! Included inventory/adjust_inventory.sql
-- Adjusts inventory by hand: all or nothing. An idempotent_key of the business that was used before changes nothing and
-- counts as a duplicate; used for anything else it is refused (409).
create function api.adjust_inventory(business_id uuid default null, adjustments jsonb default null) returns jsonb
language plpgsql
security definer set search_path = ''
as $$
declare
  given jsonb[];
  prefixes text[];
  problem text;
  items uuid[];
  duplicates bigint;
  fresh internal.ledger_entry[];
  written api.inventory_adjustments[];
begin
  perform internal.require_business(business_id);
  if jsonb_typeof(adjustments) is distinct from 'array' then
    perform internal.refuse_input('adjustments: must be an array');
  end if;
  given := array(select value from jsonb_array_elements(adjustments));
  prefixes := array(select format('adjustments[%s].', n - 1) from generate_series(1, cardinality(given)) n);
  perform internal.check_input(
    prefixes,
    given,
    null,
    '{"sku": "text", "inventory_item_id": "uuid", "location_id": "uuid", "inventory_status": "api.inventory_status",
      "operation": "api.adjustment_operation", "quantity": "bigint", "memo": "text", "idempotent_key": "text"}',
    '{location_id, inventory_status, operation, quantity}'
  );

  items := internal.match_items(business_id, prefixes, given);
  select
    (array_agg(
      a.prefix || case
        when a.item is null then 'sku: is required'
        else format('location_id: no location "%s"', a.value ->> 'location_id')
      end
      order by a.position
    ) filter (where a.item is null or location.id is null))[1]
  into problem
  from unnest(given, prefixes, items) with ordinality as a (value, prefix, item, position)
  left join api.locations location
    on location.business_id = adjust_inventory.business_id and location.id = (a.value ->> 'location_id')::uuid;
  if problem is not null then
    perform internal.refuse_input(problem);
  end if;

  perform pg_advisory_xact_lock(key) from (
    select distinct hashtextextended(adjust_inventory.business_id || (value ->> 'idempotent_key'), 0) as key
    from unnest(given) as a (value)
    where value ->> 'idempotent_key' is not null
    order by 1
  ) keys;

  with wanted as (
    select
      a.position,
      (
        adjust_inventory.business_id, (a.value ->> 'location_id')::uuid, a.item,
        a.value ->> 'inventory_status', a.value ->> 'operation', (a.value ->> 'quantity')::bigint,
        'adjust_inventory', null, a.value ->> 'memo', a.value ->> 'idempotent_key'
      )::internal.ledger_entry as entry,
      row_number() over (partition by a.value ->> 'idempotent_key' order by a.position) as repetition
    from unnest(given, items) with ordinality as a (value, item, position)
  ),
  compared as (
    select
      w.position, w.entry, w.repetition,
      coalesce(
        (
          select (l.business_id, l.location_id, l.inventory_item_id, l.inventory_status, l.operation,
            case l.operation when 'SET' then l.quantity_after else l.quantity end,
            'adjust_inventory', null, l.memo, l.idempotency_key)::internal.ledger_entry
          from api.inventory_adjustments l
          where l.business_id = adjust_inventory.business_id and l.idempotency_key = (w.entry).idempotency_key
        ),
        case when w.repetition > 1 and (w.entry).idempotency_key is not null then first.entry end
      ) as used_for
    from wanted w
    left join wanted first on (first.entry).idempotency_key = (w.entry).idempotency_key and first.repetition = 1
  )
  select
    array_agg(entry order by position) filter (where used_for is null),
    count(*) filter (where not used_for is null),
    min(format('adjustments[%s].idempotent_key: "%s" was used for another adjustment', position - 1, (entry).idempotency_key))
      filter (where not used_for is null and used_for is distinct from entry)
  into fresh, duplicates, problem
  from compared;
  if problem is not null then
    perform internal.refuse(409, problem);
  end if;

  written := array(select posted from internal.post_to_ledger(coalesce(fresh, '{}')) as posted);

  return (
    select jsonb_build_object(
      'adjusted', count(*) filter (where operation = 'ADJUST'),
      'set', count(*) filter (where operation = 'SET'),
      'duplicates', duplicates,
      'adjustments', coalesce(jsonb_agg(to_jsonb(w) - 'position' order by position), '[]')
    )
    from unnest(written) with ordinality as w (
      id, business_id, inventory_item_id, location_id, inventory_status, operation, quantity, quantity_after,
      cause_type, cause_id, memo, idempotency_key, effective_time, creation_time, update_time, position
    )
  );
end
$$;

comment on function api.adjust_inventory is
  'Adjusts inventory: {business_id, adjustments: [{sku or inventory_item_id, location_id, inventory_status, operation: ADJUST | SET, quantity, memo, idempotent_key}]} '
  'gives {adjusted, set, duplicates, adjustments: [ledger entries written]}. All or nothing: 400 naming the field when one cannot be made. '
  'A repeated idempotent_key changes nothing and counts as a duplicate; the same key with other content is refused (409).';

grant execute on function api.adjust_inventory to business, operator;
--! EndIncluded inventory/adjust_inventory.sql
--! Included inventory/commitments.sql
-- What lines of orders and fulfillments hold committed, and have shipped, where. Kept by internal.keep_commitments, so that
-- whatever happens to a line, exactly what it holds is released, and what it ships leaves once.
create table internal.commitments (
  line_id uuid primary key,
  business_id uuid not null references api.businesses,
  location_id uuid not null,
  inventory_item_id uuid not null,
  committed bigint not null check (committed >= 0),
  shipped bigint not null check (shipped >= 0),
  cause_type text not null,
  cause_id uuid not null,
  unique (business_id, line_id),
  foreign key (business_id, location_id) references api.locations (business_id, id),
  foreign key (business_id, inventory_item_id) references api.inventory_items (business_id, id)
);

create index on internal.commitments (business_id, location_id);
create index on internal.commitments (business_id, inventory_item_id);

comment on table internal.commitments is
  'Units that lines of orders (at the virtual location of their channel) and of fulfillments hold committed, and have shipped.';

alter table internal.commitments replica identity using index commitments_business_id_line_id_key;
alter table internal.commitments enable row level security, force row level security;
create policy every_business on internal.commitments to current_user using (true);
--! EndIncluded inventory/commitments.sql
--! Included inventory/keep_commitments.sql
-- Brings what lines hold committed, and have shipped, to what is wanted now, and posts the differences to the ledger:
-- committed by the change, available_to_sell by minus what ships anew. A line that nothing is wanted of releases what it holds.
create function internal.keep_commitments(lines uuid[], wanted internal.commitments[]) returns void
language plpgsql
security definer set search_path = ''
as $$
declare
  entries internal.ledger_entry[];
begin
  with held as (
    select * from internal.commitments where line_id = any (lines) order by line_id for update
  ),
  next as (
    select * from unnest(wanted)
  ),
  change as (
    select h.business_id, h.location_id, h.inventory_item_id, 'committed' as status,
      case when (h.location_id, h.inventory_item_id) = (n.location_id, n.inventory_item_id) then n.committed else 0 end
        - h.committed as quantity,
      h.cause_type, h.cause_id, h.line_id
    from held h
    left join next n using (line_id)
    union all
    select n.business_id, n.location_id, n.inventory_item_id, 'committed', n.committed, n.cause_type, n.cause_id, n.line_id
    from next n
    left join held h using (line_id)
    where (h.location_id, h.inventory_item_id) is distinct from (n.location_id, n.inventory_item_id)
    union all
    select n.business_id, n.location_id, n.inventory_item_id, 'available_to_sell', coalesce(h.shipped, 0) - n.shipped,
      n.cause_type, n.cause_id, n.line_id
    from next n
    left join held h using (line_id)
  ),
  kept as (
    insert into internal.commitments as c
    select * from next order by line_id
    on conflict (line_id) do update set
      location_id = excluded.location_id, inventory_item_id = excluded.inventory_item_id,
      committed = excluded.committed, shipped = excluded.shipped
    where (c.location_id, c.inventory_item_id, c.committed, c.shipped)
      <> (excluded.location_id, excluded.inventory_item_id, excluded.committed, excluded.shipped)
  ),
  released as (
    delete from internal.commitments
    where line_id in (select line_id from held except select line_id from next)
  )
  select array_agg(
    (
      business_id, location_id, inventory_item_id, status, 'ADJUST', quantity, cause_type, cause_id, null, null
    )::internal.ledger_entry
    order by cause_id, line_id, status
  )
  into entries
  from change
  where quantity <> 0;

  if entries is not null then
    perform internal.post_to_ledger(entries);
  end if;
end
$$;

comment on function internal.keep_commitments is
  'Brings what lines hold committed and have shipped to what is wanted, and posts the differences to the ledger.';
--! EndIncluded inventory/keep_commitments.sql
--! Included inventory/verify_inventory.sql
-- Shows where current quantities and the ledger disagree: never, or something is broken.
create function internal.verify_all_inventory(only_business uuid default null)
returns table (
  business_id uuid, location_id uuid, inventory_item_id uuid, inventory_status api.inventory_status,
  ledger_quantity bigint, current_quantity bigint
)
language sql stable
security definer set search_path = ''
as $$
  with ledger as (
    select l.business_id, l.location_id, l.inventory_item_id, l.inventory_status, sum(l.quantity)::bigint as quantity
    from api.inventory_adjustments l
    where only_business is null or l.business_id = only_business
    group by 1, 2, 3, 4
  ),
  levels as (
    select l.business_id, l.location_id, l.inventory_item_id, status.inventory_status, status.quantity
    from internal.inventory_levels l
    cross join lateral (values
      ('available_to_sell'::api.inventory_status, l.available_to_sell), ('committed', l.committed),
      ('on_hold', l.on_hold), ('on_order', l.on_order), ('reserve', l.reserve), ('incoming', l.incoming),
      ('unavailable', l.unavailable)
    ) as status (inventory_status, quantity)
    where only_business is null or l.business_id = only_business
  )
  select
    business_id, location_id, inventory_item_id, inventory_status,
    coalesce(ledger.quantity, 0), coalesce(levels.quantity, 0)
  from ledger
  full join levels using (business_id, location_id, inventory_item_id, inventory_status)
  where coalesce(ledger.quantity, 0) <> coalesce(levels.quantity, 0)
$$;

comment on function internal.verify_all_inventory is
  'The quantities that differ from the sum of their ledger entries, of one business or of all: always none.';

create function api.verify_inventory(business_id uuid default null)
returns table (
  location_id uuid, inventory_item_id uuid, inventory_status api.inventory_status,
  ledger_quantity bigint, current_quantity bigint
)
language plpgsql stable
security definer set search_path = ''
as $$
#variable_conflict use_column
begin
  perform internal.require_business(verify_inventory.business_id);
  return query
    select v.location_id, v.inventory_item_id, v.inventory_status, v.ledger_quantity, v.current_quantity
    from internal.verify_all_inventory(verify_inventory.business_id) v;
end
$$;

comment on function api.verify_inventory is
  'The quantities of a business that differ from the sum of their ledger entries: always []. Anything else is a defect: report it.';

grant execute on function api.verify_inventory to business, operator;
--! EndIncluded inventory/verify_inventory.sql

-- orders
--! Included orders/orders.sql
-- A request of items being purchased, sold or transferred. Its status belongs to the clients.
create type api.order_status as enum ('open', 'in_progress', 'closed', 'canceled', 'pending', 'hold');
comment on type api.order_status is 'Where an order stands; set by clients. Units stay committed while it is open, in_progress, pending or hold.';

create type api.order_type as enum ('sales_order', 'purchase_order', 'stock_transfer_order');
comment on type api.order_type is 'Whether items are sold, purchased or moved between own locations.';

create table api.orders (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  channel_id uuid,
  customer_id uuid,
  billing_address_id uuid,
  address_from_id uuid,
  address_to_id uuid,
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  channel_order_id text,
  status api.order_status not null default 'open',
  order_type api.order_type not null default 'sales_order',
  purchase_order_number text,
  currency_code text references api.currencies,
  subtotal_price integer,
  total_price integer,
  total_shipping_price integer,
  total_shipping_tax integer,
  total_tax integer,
  total_grams numeric,
  purchased_time timestamptz,
  canceled_time timestamptz,
  ships_by_time timestamptz,
  canceled_reason text,
  creation_time timestamptz default now(),
  update_time timestamptz,
  unique (business_id, channel_id, channel_order_id),
  unique (business_id, purchase_order_number),
  foreign key (business_id, channel_id) references api.channels (business_id, id),
  foreign key (business_id, customer_id) references api.customers (business_id, id),
  foreign key (business_id, billing_address_id) references api.addresses (business_id, id),
  foreign key (business_id, address_from_id) references api.addresses (business_id, id),
  foreign key (business_id, address_to_id) references api.addresses (business_id, id)
);

create index on api.orders (business_id, creation_time desc);
create index on api.orders (business_id, channel_order_id);
create index on api.orders (business_id, customer_id);
create index on api.orders (business_id, billing_address_id);
create index on api.orders (business_id, address_from_id);
create index on api.orders (business_id, address_to_id);
create index on api.orders (currency_code);
create index on api.orders using gin (external_ids jsonb_path_ops);

comment on table api.orders is
  'A request of items being purchased, sold or transferred.';
comment on column api.orders.id is 'Primary key.';
comment on column api.orders.business_id is 'Business that owns the record.';
comment on column api.orders.channel_id is 'Channel that the order was placed on.';
comment on column api.orders.customer_id is 'Customer who placed the order.';
comment on column api.orders.billing_address_id is 'Address to bill.';
comment on column api.orders.address_from_id is 'Address that the goods come from.';
comment on column api.orders.address_to_id is 'Address that the goods go to.';
comment on column api.orders.additional_fields is 'Free-form fields, as a JSON object.';
comment on column api.orders.external_ids is 'Ids of this record in other systems, as a JSON object.';
comment on column api.orders.channel_order_id is 'The channel''s id of the order; unique within a channel.';
comment on column api.orders.status is 'open, in_progress, closed, canceled, pending or hold. Set by clients; a refusal by a warehouse sets hold.';
comment on column api.orders.order_type is 'sales_order, purchase_order or stock_transfer_order.';
comment on column api.orders.purchase_order_number is 'The business''s number of the order; unique within a business.';
comment on column api.orders.currency_code is 'Currency of the prices, ISO 4217.';
comment on column api.orders.subtotal_price is 'Price of the lines, in minor units of the currency.';
comment on column api.orders.total_price is 'Price of all, in minor units.';
comment on column api.orders.total_shipping_price is 'Price of shipping, in minor units.';
comment on column api.orders.total_shipping_tax is 'Tax on shipping, in minor units.';
comment on column api.orders.total_tax is 'Tax, in minor units.';
comment on column api.orders.total_grams is 'Weight in grams.';
comment on column api.orders.purchased_time is 'When the order was placed.';
comment on column api.orders.canceled_time is 'When the order was canceled.';
comment on column api.orders.ships_by_time is 'Time by which the order must ship.';
comment on column api.orders.canceled_reason is 'Why the order was canceled.';
comment on column api.orders.creation_time is 'When the record was created.';
comment on column api.orders.update_time is 'When the record was last changed.';

call internal.seal_tenant_table('api.orders');
grant select, insert, update, delete on api.orders to business, operator;
--! EndIncluded orders/orders.sql
--! Included orders/order_line_items.sql
-- The lines of an order.
create table api.order_line_items (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  order_id uuid not null,
  inventory_item_id uuid,
  quantity integer not null check (quantity >= 0),
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  upc text,
  vendor text,
  grams numeric,
  price integer,
  shipping_method text,
  shipping_price integer,
  shipping_tax integer,
  presale_quantity integer,
  reserve_quantity integer,
  creation_time timestamptz default now(),
  update_time timestamptz,
  foreign key (business_id, order_id) references api.orders (business_id, id) on delete cascade,
  foreign key (business_id, inventory_item_id) references api.inventory_items (business_id, id)
);

create index on api.order_line_items (business_id, order_id);
create index on api.order_line_items (business_id, inventory_item_id);

comment on table api.order_line_items is
  'A line item in an order. Its units are committed at the virtual location of the order''s channel while the order is active.';
comment on column api.order_line_items.id is 'Primary key.';
comment on column api.order_line_items.business_id is 'Business that owns the record.';
comment on column api.order_line_items.order_id is 'Order that the line belongs to.';
comment on column api.order_line_items.inventory_item_id is 'Inventory item ordered; null while it is not known.';
comment on column api.order_line_items.quantity is 'Units ordered.';
comment on column api.order_line_items.additional_fields is 'Free-form fields, as a JSON object.';
comment on column api.order_line_items.external_ids is 'Ids of this record in other systems, as a JSON object.';
comment on column api.order_line_items.upc is 'Universal product code.';
comment on column api.order_line_items.vendor is 'Vendor of the item.';
comment on column api.order_line_items.grams is 'Weight in grams.';
comment on column api.order_line_items.price is 'Price of a unit, in minor units of the order''s currency.';
comment on column api.order_line_items.shipping_method is 'How the line is to be shipped.';
comment on column api.order_line_items.shipping_price is 'Price of shipping the line, in minor units.';
comment on column api.order_line_items.shipping_tax is 'Tax on shipping the line, in minor units.';
comment on column api.order_line_items.presale_quantity is 'Units sold before they are in stock.';
comment on column api.order_line_items.reserve_quantity is 'Units to hold in reserve.';
comment on column api.order_line_items.creation_time is 'When the record was created.';
comment on column api.order_line_items.update_time is 'When the record was last changed.';

call internal.seal_tenant_table('api.order_line_items');
grant select, insert, update, delete on api.order_line_items to business, operator;

create trigger lock_children_first before delete on api.orders for each row
  execute function internal.lock_children_first('api.order_line_items', 'order_id');
--! EndIncluded orders/order_line_items.sql
--! Included orders/order_activities.sql
-- What happened to an order, for people to read. Append-only.
create type api.activity_result as enum ('SUCCESS', 'WARNING', 'ERROR', 'UNCHANGED');
comment on type api.activity_result is 'How an activity ended.';

create table api.order_activities (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  order_id uuid not null,
  fulfillment_id uuid,
  title text not null check (title <> ''),
  description text,
  operation text,
  result api.activity_result not null,
  creation_time timestamptz default now(),
  update_time timestamptz,
  foreign key (business_id, order_id) references api.orders (business_id, id)
);

create index on api.order_activities (business_id, order_id);

comment on table api.order_activities is
  'What happened to an order, for people to read. Append-only: rows are added, never changed.';
comment on column api.order_activities.id is 'Primary key.';
comment on column api.order_activities.business_id is 'Business that owns the record.';
comment on column api.order_activities.order_id is 'Order that it happened to.';
comment on column api.order_activities.fulfillment_id is 'Fulfillment that it was about, which may be gone since.';
comment on column api.order_activities.title is 'What happened, for example 3PL Failure.';
comment on column api.order_activities.description is 'More about it, for example what a warehouse answered.';
comment on column api.order_activities.operation is 'What was being done.';
comment on column api.order_activities.result is 'SUCCESS, WARNING, ERROR or UNCHANGED.';
comment on column api.order_activities.creation_time is 'When the record was created.';
comment on column api.order_activities.update_time is 'When the record was last changed.';

call internal.seal_tenant_table('api.order_activities');
grant select, insert on api.order_activities to business, operator;
--! EndIncluded orders/order_activities.sql
--! Included orders/order_lines_commit_inventory.sql
-- Units of a sales order are committed at the virtual location of its channel while the order is open, in_progress, pending
-- or hold (docs/api.md). The commitment follows quantity, item, channel and status; what has not shipped is
-- released when the order is closed or canceled, or the line removed.
-- Orders and their channels are locked first, so that what is read of them is still so when this commits. A channel that
-- changes holds itself and locks no order: an order that changes meanwhile waits for it here, or it for the order.
create function internal.commit_order_lines(lines uuid[], lock_orders boolean default true) returns void
language plpgsql
security definer set search_path = ''
as $$
begin
  perform from api.orders o
  where lock_orders and o.id in (select l.order_id from api.order_line_items l where l.id = any (lines))
  order by o.id
  for no key update;
  perform from api.channels channel
  where channel.id in (
    select o.channel_id
    from api.order_line_items l
    join api.orders o on o.business_id = l.business_id and o.id = l.order_id
    where l.id = any (lines)
  )
  order by channel.id
  for share;
  perform from internal.commitments where line_id = any (lines) order by line_id for update;

  perform internal.keep_commitments(lines, array(
    select (
      l.id, l.business_id, channel.location_id, l.inventory_item_id,
      case when o.status in ('open', 'in_progress', 'pending', 'hold')
        then greatest(0, l.quantity - coalesce(held.shipped, 0)) else 0 end,
      coalesce(held.shipped, 0), 'order_line_item', l.id
    )::internal.commitments
    from api.order_line_items l
    join api.orders o on o.business_id = l.business_id and o.id = l.order_id
    join api.channels channel on channel.business_id = o.business_id and channel.id = o.channel_id
    left join internal.commitments held on held.line_id = l.id
    where l.id = any (lines)
      and o.order_type = 'sales_order' and channel.location_id is not null and l.inventory_item_id is not null
  ));
end
$$;

comment on function internal.commit_order_lines is
  'Brings what order lines hold committed at their channel''s virtual location in line with the order.';

create function internal.order_lines_commit_inventory() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  lines uuid[];
begin
  if tg_op = 'INSERT' then
    lines := array(select id from new_lines);
  elsif tg_op = 'DELETE' then
    lines := array(select id from old_lines);
  else
    lines := array(
      select after.id
      from old_lines before
      join new_lines after using (id)
      where (before.order_id, before.inventory_item_id, before.quantity)
        is distinct from (after.order_id, after.inventory_item_id, after.quantity)
    );
  end if;
  if lines <> '{}' then
    perform internal.commit_order_lines(lines);
  end if;
  return null;
end
$$;

comment on function internal.order_lines_commit_inventory is 'Commits or releases the units of order lines that are added, changed or removed.';

create trigger order_lines_commit_inventory_on_insert after insert on api.order_line_items
  referencing new table as new_lines
  for each statement execute function internal.order_lines_commit_inventory();
create trigger order_lines_commit_inventory_on_update after update on api.order_line_items
  referencing old table as old_lines new table as new_lines
  for each statement execute function internal.order_lines_commit_inventory();
create trigger order_lines_commit_inventory_on_delete after delete on api.order_line_items
  referencing old table as old_lines
  for each statement execute function internal.order_lines_commit_inventory();

create function internal.orders_commit_inventory() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  lines uuid[] := array(
    select l.id
    from old_orders before
    join new_orders after using (id)
    join api.order_line_items l on l.business_id = after.business_id and l.order_id = after.id
    where (before.status, before.order_type, before.channel_id)
      is distinct from (after.status, after.order_type, after.channel_id)
  );
begin
  if lines <> '{}' then
    perform from api.channels channel
    where channel.id in (select channel_id from old_orders union select channel_id from new_orders)
    order by channel.id
    for share;
    perform internal.commit_order_lines(lines);
  end if;
  return null;
end
$$;

comment on function internal.orders_commit_inventory is 'Commits or releases the units of orders whose status, type or channel changes.';

create trigger orders_commit_inventory after update on api.orders
  referencing old table as old_orders new table as new_orders
  for each statement execute function internal.orders_commit_inventory();

create function internal.channels_commit_inventory() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  lines uuid[] := array(
    select l.id
    from old_channels before
    join new_channels after using (id)
    join api.orders o on o.business_id = after.business_id and o.channel_id = after.id
    join api.order_line_items l on l.business_id = o.business_id and l.order_id = o.id
    where before.location_id is distinct from after.location_id
      and o.status in ('open', 'in_progress', 'pending', 'hold')
  );
begin
  if lines <> '{}' then
    perform internal.commit_order_lines(lines, lock_orders => false);
  end if;
  return null;
end
$$;

comment on function internal.channels_commit_inventory is 'Moves the commitments of a channel''s active orders when its virtual location changes.';

create trigger channels_commit_inventory after update on api.channels
  referencing old table as old_channels new table as new_channels
  for each statement execute function internal.channels_commit_inventory();
--! EndIncluded orders/order_lines_commit_inventory.sql
--! Included orders/find_order.sql
-- The order that a number means: its purchase_order_number or channel_order_id.
-- Refuses (400) a number that no order has, (409) one that several have.
create function internal.find_order(business_id uuid, order_number text, path text) returns uuid
language plpgsql stable
set search_path = ''
as $$
declare
  orders uuid[] := array(
    select o.id from api.orders o
    where o.business_id = find_order.business_id and o.purchase_order_number = order_number
    union
    select o.id from api.orders o
    where o.business_id = find_order.business_id and o.channel_order_id = order_number
  );
begin
  if cardinality(orders) = 0 then
    perform internal.refuse_input(format('%s: no order "%s"', path, order_number));
  elsif cardinality(orders) > 1 then
    perform internal.refuse(409, format('%s: several orders are "%s"', path, order_number));
  end if;
  return orders[1];
end
$$;

comment on function internal.find_order is
  'The order whose purchase_order_number or channel_order_id is given. Refuses none (400) and several (409).';

grant execute on function internal.find_order to business, operator;
--! EndIncluded orders/find_order.sql
--! Included orders/orders_in_full.sql
-- Orders with their lines, customer and addresses, as calls return them.
create function internal.orders_in_full(orders uuid[])
returns table (id uuid, document jsonb)
language sql stable
set search_path = ''
as $$
  select o.id, to_jsonb(o) || jsonb_build_object(
    'customer', (
      select to_jsonb(c) || jsonb_build_object('billing_address', to_jsonb(billing), 'shipping_address', to_jsonb(shipping))
      from api.customers c
      left join api.addresses billing on billing.business_id = c.business_id and billing.id = c.billing_address_id
      left join api.addresses shipping on shipping.business_id = c.business_id and shipping.id = c.shipping_address_id
      where c.business_id = o.business_id and c.id = o.customer_id
    ),
    'billing_address', (select to_jsonb(a) from api.addresses a where (a.business_id, a.id) = (o.business_id, o.billing_address_id)),
    'address_from', (select to_jsonb(a) from api.addresses a where (a.business_id, a.id) = (o.business_id, o.address_from_id)),
    'address_to', (select to_jsonb(a) from api.addresses a where (a.business_id, a.id) = (o.business_id, o.address_to_id)),
    'line_items', (
      select coalesce(jsonb_agg(to_jsonb(l) || jsonb_build_object('sku', item.sku, 'title', item.title) order by l.id), '[]')
      from api.order_line_items l
      left join api.inventory_items item on item.business_id = l.business_id and item.id = l.inventory_item_id
      where l.business_id = o.business_id and l.order_id = o.id
    )
  )
  from api.orders o
  where o.id = any (orders)
$$;

comment on function internal.orders_in_full is 'Orders as JSON objects with their lines, customer and addresses.';

grant execute on function internal.orders_in_full to business, operator;
--! EndIncluded orders/orders_in_full.sql
--! Included orders/upsert_orders_full.sql
-- Creates or updates an order with its lines, customer and addresses: one transaction, all or nothing.
--   * the order is matched by id, else by channel_id and channel_order_id, else by purchase_order_number, else by
--     external_ids; lines within it by id, else by external_ids
--   * lines name their inventory item by sku or inventory_item_id
--   * with patch, fields and lines that are not named stay; without, the order becomes exactly what is given
create function api.upsert_orders_full("order" jsonb default null, patch boolean default true) returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  given constant jsonb := "order";
  business uuid;
  target_id uuid;
  stored api.orders;
  lines jsonb[];
  prefixes text[];
  known_lines uuid[];
  line_ids uuid[];
  problem text;
begin
  if patch is null then
    perform internal.refuse_input('patch: must be true or false');
  end if;
  perform internal.check_input(
    '{""}', array[given], 'api.orders',
    '{"customer": "object", "billing_address": "object", "address_from": "object", "address_to": "object",
      "line_items": "array"}',
    '{business_id}'
  );
  business := (given ->> 'business_id')::uuid;
  perform internal.require_business(business);
  lines := array(select value from jsonb_array_elements(nullif(given -> 'line_items', 'null')));
  prefixes := array(select format('line_items[%s].', n - 1) from generate_series(1, cardinality(lines)) n);
  perform internal.check_input(
    prefixes, lines, 'api.order_line_items',
    '{"sku": "text", "title": "text", "quantity": "positive integer"}', '{}'
  );

  perform pg_advisory_xact_lock(hashtextextended(format(
    'upsert_orders_full %s %s %s', business, given ->> 'channel_order_id', coalesce(given -> 'purchase_order_number', given -> 'external_ids')
  ), 0));
  target_id := internal.find_one('api.orders', business, given, natural_keys => jsonb_build_array(
    jsonb_build_object('channel_id', given -> 'channel_id', 'channel_order_id', given -> 'channel_order_id'),
    jsonb_build_object('purchase_order_number', given -> 'purchase_order_number')
  ));
  select o.* into stored from api.orders o where o.id = target_id;
  target_id := coalesce(target_id, (given ->> 'id')::uuid, uuidv7());
  perform internal.upsert_rows(
    'api.orders',
    array[
      given - '{customer, billing_address, address_from, address_to, line_items}'::text[]
        || jsonb_strip_nulls(jsonb_build_object(
          'id', target_id,
          'customer_id', internal.upsert_customer(business, given -> 'customer', 'customer.', stored.customer_id, patch),
          'billing_address_id', internal.upsert_address(
            business, given -> 'billing_address', 'billing_address.', stored.billing_address_id, patch),
          'address_from_id', internal.upsert_address(
            business, given -> 'address_from', 'address_from.', stored.address_from_id, patch),
          'address_to_id', internal.upsert_address(business, given -> 'address_to', 'address_to.', stored.address_to_id, patch)
        ))
    ],
    array_remove(array[stored.id], null),
    patch
  );

  known_lines := internal.match_existing(
    'api.order_line_items', business, 'order_id', array_fill(target_id, array[cardinality(lines)]), prefixes, lines
  );
  select prefix || 'quantity: is required' into problem
  from unnest(lines, prefixes, known_lines) with ordinality as l (line, prefix, known_id, position)
  where known_id is null and line ->> 'quantity' is null
  order by position
  limit 1;
  if found then
    perform internal.refuse_input(problem);
  end if;
  line_ids := array(
    select coalesce(known_id, (line ->> 'id')::uuid, uuidv7())
    from unnest(known_lines, lines) with ordinality as l (known_id, line, position)
    order by position
  );
  if not patch then
    delete from api.order_line_items l
    where l.business_id = business and l.order_id = target_id and l.id <> all (line_ids);
  end if;
  perform internal.upsert_rows(
    'api.order_line_items',
    array(
      select line - '{sku, title}'::text[]
        || jsonb_build_object('id', id, 'business_id', business, 'order_id', target_id)
        || case when item_id is null then '{}' else jsonb_build_object('inventory_item_id', item_id) end
      from unnest(lines, line_ids, internal.match_items(business, prefixes, lines))
        with ordinality as l (line, id, item_id, position)
      order by position
    ),
    array_remove(known_lines, null),
    patch
  );

  return (select document from internal.orders_in_full(array[target_id]));
end
$$;

comment on function api.upsert_orders_full is
  'Creates or updates an order with lines, customer and addresses, all or nothing. '
  'order: {business_id, channel_id, channel_order_id, purchase_order_number, customer, billing_address, address_from, address_to, line_items: [{sku, quantity, ...}], ...}. '
  'Matched by id, else by channel_id and channel_order_id, else purchase_order_number, else external_ids; lines by id, else external_ids. '
  'patch (default true): what is not named stays; false: the order becomes exactly what is given. '
  'Answers the order in full. 400 (P0001) naming the field when the input is wrong.';

grant execute on function api.upsert_orders_full to business, operator;
--! EndIncluded orders/upsert_orders_full.sql

-- receiving: shipments and their receipts
--! Included receiving/shipments.sql
-- Goods on their way from one location to another, by the business's own shipment number.
create type api.shipment_status as enum ('unshipped', 'shipped', 'closed', 'canceled');
comment on type api.shipment_status is 'unshipped → shipped → closed or canceled; unshipped → closed or canceled.';

create table api.shipments (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  shipment_number text not null check (shipment_number <> ''),
  status api.shipment_status not null default 'unshipped',
  order_id uuid,
  bill_of_lading text,
  carrier text,
  service text,
  scac text,
  tracking_number text,
  tracking_urls text[],
  ship_by_time timestamptz,
  deliver_by_time timestamptz,
  cancel_by_time timestamptz,
  shipped_time timestamptz,
  received_time timestamptz,
  estimated_arrival_time timestamptz,
  canceled_time timestamptz,
  billing_address_id uuid,
  location_from uuid,
  location_to uuid,
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  creation_time timestamptz default now(),
  update_time timestamptz,
  unique (business_id, shipment_number),
  foreign key (business_id, order_id) references api.orders (business_id, id),
  foreign key (business_id, billing_address_id) references api.addresses (business_id, id),
  foreign key (business_id, location_from) references api.locations (business_id, id),
  foreign key (business_id, location_to) references api.locations (business_id, id)
);

create index on api.shipments (business_id, order_id);
create index on api.shipments (business_id, billing_address_id);
create index on api.shipments (business_id, location_from);
create index on api.shipments (business_id, location_to);
create index on api.shipments (business_id, creation_time);

comment on table api.shipments is
  'Goods on their way from one location to another. Shipping moves units from available_to_sell at location_from to incoming at location_to.';
comment on column api.shipments.id is 'Primary key.';
comment on column api.shipments.business_id is 'Business that owns the record.';
comment on column api.shipments.shipment_number is 'The business''s own number of the shipment; unique in the business.';
comment on column api.shipments.status is 'unshipped, shipped, closed or canceled; changes only in that direction (else 409).';
comment on column api.shipments.order_id is 'Order that the shipment serves.';
comment on column api.shipments.bill_of_lading is 'Number of the bill of lading.';
comment on column api.shipments.carrier is 'Carrier that moves the goods.';
comment on column api.shipments.service is 'Carrier''s service.';
comment on column api.shipments.scac is 'Standard Carrier Alpha Code.';
comment on column api.shipments.tracking_number is 'Carrier''s tracking number.';
comment on column api.shipments.tracking_urls is 'Addresses at which the shipment can be tracked.';
comment on column api.shipments.ship_by_time is 'Time by which the goods must leave.';
comment on column api.shipments.deliver_by_time is 'Time by which the goods must arrive.';
comment on column api.shipments.cancel_by_time is 'Time after which the shipment is void if it has not left.';
comment on column api.shipments.shipped_time is 'When the goods left; set when the status becomes shipped, unless given.';
comment on column api.shipments.received_time is 'When the goods were received.';
comment on column api.shipments.estimated_arrival_time is 'When the goods are expected.';
comment on column api.shipments.canceled_time is 'When the shipment was canceled; set when the status becomes canceled, unless given.';
comment on column api.shipments.billing_address_id is 'Address to bill.';
comment on column api.shipments.location_from is 'Location that the goods leave; may change only while unshipped or not set.';
comment on column api.shipments.location_to is 'Location that receives the goods: completed receipts book here. May change only while unshipped or not set.';
comment on column api.shipments.external_ids is 'Ids of this record in other systems, as a JSON object.';
comment on column api.shipments.additional_fields is 'Free-form fields, as a JSON object.';
comment on column api.shipments.creation_time is 'When the record was created.';
comment on column api.shipments.update_time is 'When the record was last changed.';

call internal.seal_tenant_table('api.shipments');
grant select, insert, update, delete on api.shipments to business, operator;
--! EndIncluded receiving/shipments.sql
--! Included receiving/shipment_packages.sql
-- Cartons and pallets of a shipment.
create type api.item_dimension as (
  length numeric,
  width numeric,
  height numeric,
  unit text
);
comment on type api.item_dimension is 'Outer measures: length, width, height in unit.';

create table api.shipment_packages (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  shipment_id uuid not null,
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  carton_id text,
  ssc text,
  dimension api.item_dimension,
  pallet_number integer,
  license_plate text,
  currency_code text references api.currencies,
  pack_size integer,
  inner_packs integer,
  fulfillment_cost numeric,
  shipping_cost numeric,
  creation_time timestamptz default now(),
  update_time timestamptz,
  unique (business_id, shipment_id, id),
  foreign key (business_id, shipment_id) references api.shipments (business_id, id) on delete cascade
);

create index on api.shipment_packages (currency_code);

comment on table api.shipment_packages is
  'A carton or pallet of a shipment.';
comment on column api.shipment_packages.id is 'Primary key.';
comment on column api.shipment_packages.business_id is 'Business that owns the record.';
comment on column api.shipment_packages.shipment_id is 'Shipment that the package belongs to.';
comment on column api.shipment_packages.additional_fields is 'Free-form fields, as a JSON object.';
comment on column api.shipment_packages.external_ids is 'Ids of this record in other systems, as a JSON object.';
comment on column api.shipment_packages.carton_id is 'Id of the carton.';
comment on column api.shipment_packages.ssc is 'Serial shipping container code.';
comment on column api.shipment_packages.dimension is 'Outer measures of the package.';
comment on column api.shipment_packages.pallet_number is 'Pallet that the package is on.';
comment on column api.shipment_packages.license_plate is 'License plate of the pallet.';
comment on column api.shipment_packages.currency_code is 'Currency of the costs.';
comment on column api.shipment_packages.pack_size is 'Units in a pack.';
comment on column api.shipment_packages.inner_packs is 'Packs in the package.';
comment on column api.shipment_packages.fulfillment_cost is 'Cost of fulfilling the package, in currency_code.';
comment on column api.shipment_packages.shipping_cost is 'Cost of shipping the package, in currency_code.';
comment on column api.shipment_packages.creation_time is 'When the record was created.';
comment on column api.shipment_packages.update_time is 'When the record was last changed.';

call internal.seal_tenant_table('api.shipment_packages');
grant select, insert, update, delete on api.shipment_packages to business, operator;
--! EndIncluded receiving/shipment_packages.sql
--! Included receiving/shipment_items.sql
-- What a shipment carries, each line in a package or loose.
create table api.shipment_items (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  shipment_id uuid not null,
  shipment_package_id uuid,
  inventory_item_id uuid not null,
  quantity integer not null check (quantity > 0),
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  line_number integer,
  name text,
  upc text,
  lot_number text,
  hs_code text,
  hts_code text,
  country_of_origin text,
  serial_number text,
  currency_code text references api.currencies,
  unit_price numeric,
  discounted_price numeric,
  creation_time timestamptz default now(),
  update_time timestamptz,
  foreign key (business_id, shipment_id) references api.shipments (business_id, id) on delete cascade,
  foreign key (business_id, shipment_id, shipment_package_id)
    references api.shipment_packages (business_id, shipment_id, id) on delete cascade,
  foreign key (business_id, inventory_item_id) references api.inventory_items (business_id, id)
);

create index on api.shipment_items (business_id, shipment_id, shipment_package_id);
create index on api.shipment_items (business_id, inventory_item_id);
create index on api.shipment_items (currency_code);

comment on table api.shipment_items is
  'A line of a shipment: units of one inventory item. Item, quantity and number of lines change only while the shipment is unshipped (else 409).';
comment on column api.shipment_items.id is 'Primary key.';
comment on column api.shipment_items.business_id is 'Business that owns the record.';
comment on column api.shipment_items.shipment_id is 'Shipment that carries the item.';
comment on column api.shipment_items.shipment_package_id is 'Package of the same shipment that the item is in; null for loose goods.';
comment on column api.shipment_items.inventory_item_id is 'Inventory item.';
comment on column api.shipment_items.quantity is 'Units shipped, at least 1.';
comment on column api.shipment_items.additional_fields is 'Free-form fields, as a JSON object.';
comment on column api.shipment_items.external_ids is 'Ids of this record in other systems, as a JSON object.';
comment on column api.shipment_items.line_number is 'Number of the line on the papers.';
comment on column api.shipment_items.name is 'Name on the papers.';
comment on column api.shipment_items.upc is 'Universal product code.';
comment on column api.shipment_items.lot_number is 'Lot.';
comment on column api.shipment_items.hs_code is 'Harmonized System code.';
comment on column api.shipment_items.hts_code is 'Harmonized Tariff Schedule code.';
comment on column api.shipment_items.country_of_origin is 'Country that the goods come from.';
comment on column api.shipment_items.serial_number is 'Serial number.';
comment on column api.shipment_items.currency_code is 'Currency of the prices.';
comment on column api.shipment_items.unit_price is 'Price of a unit, in currency_code.';
comment on column api.shipment_items.discounted_price is 'Price of a unit after discount, in currency_code.';
comment on column api.shipment_items.creation_time is 'When the record was created.';
comment on column api.shipment_items.update_time is 'When the record was last changed.';

call internal.seal_tenant_table('api.shipment_items');
grant select, insert, update, delete on api.shipment_items to business, operator;

create trigger lock_children_first before delete on api.shipments for each row
  execute function internal.lock_children_first('api.shipment_items', 'shipment_id');
--! EndIncluded receiving/shipment_items.sql
--! Included receiving/shipment_package_items.sql
-- Packages of shipments with their items (docs/api.md).
create view api.shipment_package_items with (security_invoker = true) as
select
  package.id,
  package.shipment_id,
  package.additional_fields,
  package.external_ids,
  package.carton_id,
  package.ssc,
  package.dimension,
  package.pallet_number,
  package.license_plate,
  package.currency_code,
  package.pack_size,
  package.inner_packs,
  package.fulfillment_cost,
  package.shipping_cost,
  array(
    select jsonb_build_object(
      'id', item.id, 'shipment_id', item.shipment_id, 'shipment_package_id', item.shipment_package_id,
      'inventory_item_id', item.inventory_item_id, 'sku', product.sku, 'title', product.title,
      'additional_fields', item.additional_fields, 'external_ids', item.external_ids,
      'line_number', item.line_number, 'quantity', item.quantity, 'name', item.name, 'upc', item.upc,
      'lot_number', item.lot_number, 'hs_code', item.hs_code, 'hts_code', item.hts_code,
      'country_of_origin', item.country_of_origin, 'serial_number', item.serial_number,
      'currency_code', item.currency_code, 'unit_price', item.unit_price, 'discounted_price', item.discounted_price
    )
    from api.shipment_items item
    join api.inventory_items product on product.business_id = item.business_id and product.id = item.inventory_item_id
    where (item.business_id, item.shipment_id, item.shipment_package_id)
      = (package.business_id, package.shipment_id, package.id)
    order by item.line_number, item.id
  ) as items
from api.shipment_packages package;

comment on view api.shipment_package_items is 'Packages of shipments with their items. Read only.';
comment on column api.shipment_package_items.id is 'Package.';
comment on column api.shipment_package_items.shipment_id is 'Shipment that the package belongs to.';
comment on column api.shipment_package_items.additional_fields is 'Free-form fields, as a JSON object.';
comment on column api.shipment_package_items.external_ids is 'Ids of the package in other systems, as a JSON object.';
comment on column api.shipment_package_items.carton_id is 'Id of the carton.';
comment on column api.shipment_package_items.ssc is 'Serial shipping container code.';
comment on column api.shipment_package_items.dimension is 'Outer measures of the package.';
comment on column api.shipment_package_items.pallet_number is 'Pallet that the package is on.';
comment on column api.shipment_package_items.license_plate is 'License plate of the pallet.';
comment on column api.shipment_package_items.currency_code is 'Currency of the costs.';
comment on column api.shipment_package_items.pack_size is 'Units in a pack.';
comment on column api.shipment_package_items.inner_packs is 'Packs in the package.';
comment on column api.shipment_package_items.fulfillment_cost is 'Cost of fulfilling the package, in currency_code.';
comment on column api.shipment_package_items.shipping_cost is 'Cost of shipping the package, in currency_code.';
comment on column api.shipment_package_items.items is
  'Items in the package, in line order: id, inventory_item_id, sku, title, quantity (units), line_number, prices and papers.';

grant select on api.shipment_package_items to business, operator;

create trigger view_is_read_only instead of insert or update or delete on api.shipment_package_items for each row
  execute function internal.view_is_read_only();
--! EndIncluded receiving/shipment_package_items.sql
--! Included receiving/shipment_receipts.sql
-- The record of receiving a shipment: open until completed_time is set, then final.
create table api.shipment_receipts (
  id uuid primary key default uuidv7(),
  shipment_id uuid not null,
  business_id uuid not null references api.businesses,
  received_time timestamptz not null default now(),
  completed_time timestamptz,
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  creation_time timestamptz default now(),
  update_time timestamptz,
  foreign key (business_id, shipment_id) references api.shipments (business_id, id)
);

create index on api.shipment_receipts (business_id, shipment_id);

comment on table api.shipment_receipts is
  'Record of receiving a shipment. Setting completed_time books what was received and closes the receipt for good (P0001 on any later change).';
comment on column api.shipment_receipts.id is 'Primary key.';
comment on column api.shipment_receipts.shipment_id is 'Shipment that the receipt is for.';
comment on column api.shipment_receipts.business_id is 'Business that owns the record.';
comment on column api.shipment_receipts.received_time is 'When the goods were received.';
comment on column api.shipment_receipts.completed_time is 'Null while the receipt is open. Setting it adjusts inventory and is final.';
comment on column api.shipment_receipts.additional_fields is 'Free-form fields, as a JSON object.';
comment on column api.shipment_receipts.external_ids is 'Ids of this record in other systems, as a JSON object.';
comment on column api.shipment_receipts.creation_time is 'When the record was created.';
comment on column api.shipment_receipts.update_time is 'When the record was last changed.';

call internal.seal_tenant_table('api.shipment_receipts');
grant select, insert, update, delete on api.shipment_receipts to business, operator;
--! EndIncluded receiving/shipment_receipts.sql
--! Included receiving/shipment_receipt_items.sql
-- What was received, item by item.
create table api.shipment_receipt_items (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  shipment_receipt_id uuid not null,
  inventory_item_id uuid not null,
  quantity integer not null check (quantity > 0),
  comment text,
  receipt_time timestamptz not null default now(),
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  available boolean not null default true,
  creation_time timestamptz default now(),
  update_time timestamptz,
  foreign key (business_id, shipment_receipt_id) references api.shipment_receipts (business_id, id) on delete cascade,
  foreign key (business_id, inventory_item_id) references api.inventory_items (business_id, id)
);

create index on api.shipment_receipt_items (business_id, shipment_receipt_id);
create index on api.shipment_receipt_items (business_id, inventory_item_id);

comment on table api.shipment_receipt_items is
  'Record of items received in a shipment. Closed with its receipt.';
comment on column api.shipment_receipt_items.id is 'Primary key.';
comment on column api.shipment_receipt_items.business_id is 'Business that owns the record.';
comment on column api.shipment_receipt_items.shipment_receipt_id is 'Receipt that the item belongs to.';
comment on column api.shipment_receipt_items.inventory_item_id is 'Inventory item received.';
comment on column api.shipment_receipt_items.quantity is 'Units received, at least 1.';
comment on column api.shipment_receipt_items.comment is 'Remark of who received it.';
comment on column api.shipment_receipt_items.receipt_time is 'When the item was received.';
comment on column api.shipment_receipt_items.additional_fields is 'Free-form fields, as a JSON object.';
comment on column api.shipment_receipt_items.external_ids is 'Ids of this record in other systems, as a JSON object.';
comment on column api.shipment_receipt_items.available is 'False: not received in usable condition, booked as unavailable.';
comment on column api.shipment_receipt_items.creation_time is 'When the record was created.';
comment on column api.shipment_receipt_items.update_time is 'When the record was last changed.';

call internal.seal_tenant_table('api.shipment_receipt_items');
grant select, insert, update, delete on api.shipment_receipt_items to business, operator;

create trigger lock_children_first before delete on api.shipment_receipts for each row
  execute function internal.lock_children_first('api.shipment_receipt_items', 'shipment_receipt_id');
--! EndIncluded receiving/shipment_receipt_items.sql
--! Included receiving/still_incoming.sql
-- What shipments still have on their way, per item: what was shipped, less what completed receipts received of it.
create function internal.still_incoming(shipments uuid[], except_receipts uuid[] default '{}')
returns table (shipment_id uuid, inventory_item_id uuid, quantity bigint)
language sql stable
set search_path = ''
as $$
  with shipped as (
    select s.id as shipment_id, i.inventory_item_id, sum(i.quantity) as quantity
    from api.shipments s
    join api.shipment_items i on i.business_id = s.business_id and i.shipment_id = s.id
    where s.id = any (shipments)
    group by 1, 2
  ),
  received as (
    select s.id as shipment_id, i.inventory_item_id, sum(i.quantity) as quantity
    from api.shipments s
    join api.shipment_receipts r on r.business_id = s.business_id and r.shipment_id = s.id
    join api.shipment_receipt_items i on i.business_id = r.business_id and i.shipment_receipt_id = r.id
    where s.id = any (shipments) and r.completed_time is not null and r.id <> all (except_receipts)
    group by 1, 2
  )
  select shipment_id, inventory_item_id, (shipped.quantity - coalesce(received.quantity, 0))::bigint
  from shipped
  left join received using (shipment_id, inventory_item_id)
  where shipped.quantity > coalesce(received.quantity, 0)
$$;

comment on function internal.still_incoming is
  'Units that shipments still have on their way per item: shipped, less received by completed receipts other than those given.';
--! EndIncluded receiving/still_incoming.sql
--! Included receiving/shipment_status_moves_forward.sql
-- Shipment states move only so (else 409): unshipped → shipped, closed, canceled; shipped → closed, canceled.
--   * closed is refused while a receipt is open, canceled once one is complete
--   * the locations stay once they are set and the shipment is not unshipped any more
--   * shipped_time and canceled_time are set with their state unless given, and stay
create function internal.shipment_status_moves_forward() returns trigger
language plpgsql
security definer set search_path = ''
as $$
begin
  if old.status <> 'unshipped' and (
    old.location_from is not null and new.location_from is distinct from old.location_from
    or old.location_to is not null and new.location_to is distinct from old.location_to
  ) then
    perform internal.refuse(409, format('Shipment %s is %s: its locations cannot change', old.shipment_number, old.status));
  end if;

  if new.status <> 'unshipped' then
    new.shipped_time := coalesce(new.shipped_time, old.shipped_time);
    new.canceled_time := coalesce(new.canceled_time, old.canceled_time);
  end if;
  if new.status = old.status then
    return new;
  elsif (old.status, new.status) not in (
    ('unshipped', 'shipped'), ('unshipped', 'closed'), ('unshipped', 'canceled'),
    ('shipped', 'closed'), ('shipped', 'canceled')
  ) then
    perform internal.refuse(409, format('Shipment %s is %s: it cannot become %s', old.shipment_number, old.status, new.status));
  elsif new.status = 'closed' and exists (
    select from api.shipment_receipts r
    where r.business_id = old.business_id and r.shipment_id = old.id and r.completed_time is null
  ) then
    perform internal.refuse(409, format('Shipment %s has an open receipt: it cannot be closed', old.shipment_number));
  elsif new.status = 'canceled' and exists (
    select from api.shipment_receipts r
    where r.business_id = old.business_id and r.shipment_id = old.id and r.completed_time is not null
  ) then
    perform internal.refuse(409, format('Shipment %s has a completed receipt: it cannot be canceled', old.shipment_number));
  end if;

  if new.status = 'shipped' then
    new.shipped_time := coalesce(new.shipped_time, now());
  elsif new.status = 'canceled' then
    new.canceled_time := coalesce(new.canceled_time, now());
  end if;
  return new;
end
$$;

comment on function internal.shipment_status_moves_forward is
  'Refuses (409) shipment states that go back, closing with an open receipt, canceling with a completed one, and new locations once shipped.';

create trigger shipment_status_moves_forward before update on api.shipments for each row
  when (
    old.status <> new.status
    or old.location_from is distinct from new.location_from
    or old.location_to is distinct from new.location_to
    or old.shipped_time is distinct from new.shipped_time
    or old.canceled_time is distinct from new.canceled_time
  )
  execute function internal.shipment_status_moves_forward();
--! EndIncluded receiving/shipment_status_moves_forward.sql
--! Included receiving/shipment_items_change_while_unshipped.sql
-- What a shipment carries — item, quantity, number of lines — changes only while it is unshipped (409): afterwards it is
-- booked. The shipment is locked, so that it does not ship meanwhile. Lines that go with their shipment may go.
create function internal.shipment_items_change_while_unshipped() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  changed uuid[];
  problem record;
begin
  if tg_op = 'INSERT' then
    changed := array(select distinct shipment_id from new_items);
  elsif tg_op = 'DELETE' then
    changed := array(select distinct shipment_id from old_items);
  else
    changed := array(
      select distinct unnest(array[before.shipment_id, after.shipment_id])
      from old_items before
      join new_items after using (id)
      where (before.shipment_id, before.inventory_item_id, before.quantity)
        <> (after.shipment_id, after.inventory_item_id, after.quantity)
    );
  end if;

  perform from api.shipments s where s.id = any (changed) order by s.id for no key update;
  select s.shipment_number, s.status into problem
  from api.shipments s
  where s.id = any (changed) and s.status <> 'unshipped'
  limit 1;
  if found then
    perform internal.refuse(409, format('Shipment %s is %s: its items cannot change', problem.shipment_number, problem.status));
  end if;
  return null;
end
$$;

comment on function internal.shipment_items_change_while_unshipped is
  'Refuses (409) to add, remove or change the lines of a shipment that is not unshipped.';

create trigger shipment_items_change_while_unshipped_on_insert after insert on api.shipment_items
  referencing new table as new_items
  for each statement execute function internal.shipment_items_change_while_unshipped();
create trigger shipment_items_change_while_unshipped_on_update after update on api.shipment_items
  referencing old table as old_items new table as new_items
  for each statement execute function internal.shipment_items_change_while_unshipped();
create trigger shipment_items_change_while_unshipped_on_delete after delete on api.shipment_items
  referencing old table as old_items
  for each statement execute function internal.shipment_items_change_while_unshipped();
--! EndIncluded receiving/shipment_items_change_while_unshipped.sql
--! Included receiving/shipping_moves_inventory.sql
-- What a shipment's state does to inventory, q being the units of an item on it (docs/api.md):
--   becomes shipped       location_from: available_to_sell −q; location_to: incoming +q, less what was received already
--   shipped → closed      what is still incoming counts as received: incoming −r, available_to_sell +r
--   shipped → canceled    what shipping booked is undone
-- A location that is set only after shipping is booked then. Created closed or canceled: nothing.
create function internal.shipping_moves_inventory() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  shipped uuid[];
  closed uuid[];
  canceled uuid[];
  entries internal.ledger_entry[];
begin
  select
    array_agg(after.id) filter (where after.status = 'shipped'),
    array_agg(after.id) filter (where after.status = 'closed' and before.status = 'shipped'),
    array_agg(after.id) filter (where after.status = 'canceled' and before.status = 'shipped')
  into shipped, closed, canceled
  from old_shipments before
  join new_shipments after using (id)
  where before.status <> after.status
    or after.status = 'shipped' and (
      before.location_from is distinct from after.location_from or before.location_to is distinct from after.location_to
    );
  if coalesce(shipped, closed, canceled) is null then
    return null;
  end if;

  with line as (
    select i.business_id, i.shipment_id, i.inventory_item_id, sum(i.quantity) as quantity
    from new_shipments after
    join api.shipment_items i on i.business_id = after.business_id and i.shipment_id = after.id
    where after.id = any (shipped)
    group by 1, 2, 3
  ),
  change as (
    select line.business_id, line.shipment_id, after.location_from as location_id, line.inventory_item_id,
      'available_to_sell' as status, -line.quantity as quantity
    from line
    join new_shipments after on after.id = line.shipment_id
    join old_shipments before on before.id = line.shipment_id
    where after.location_from is not null and (before.status <> 'shipped' or before.location_from is null)
    union all
    select after.business_id, after.id, after.location_to, incoming.inventory_item_id, 'incoming', incoming.quantity
    from internal.still_incoming(shipped) incoming
    join new_shipments after on after.id = incoming.shipment_id
    join old_shipments before on before.id = incoming.shipment_id
    where after.location_to is not null and (before.status <> 'shipped' or before.location_to is null)
    union all
    select after.business_id, after.id, after.location_to, incoming.inventory_item_id, effect.status,
      effect.sign * incoming.quantity
    from internal.still_incoming(closed) incoming
    join new_shipments after on after.id = incoming.shipment_id
    cross join (values ('incoming', -1), ('available_to_sell', 1)) as effect (status, sign)
    where after.location_to is not null
    union all
    select e.business_id, e.cause_id, e.location_id, e.inventory_item_id, e.inventory_status::text, -sum(e.quantity)
    from new_shipments after
    join api.inventory_adjustments e on e.business_id = after.business_id and e.cause_id = after.id
    where after.id = any (canceled)
    group by 1, 2, 3, 4, 5
  )
  select array_agg(
    (
      change.business_id, location_id, inventory_item_id, change.status, 'ADJUST', quantity, 'shipment', shipment_id,
      format('Shipment %s %s', after.shipment_number, after.status), null
    )::internal.ledger_entry
    order by shipment_id, location_id, inventory_item_id
  )
  into entries
  from change
  join new_shipments after on after.id = change.shipment_id
  where quantity <> 0;

  if entries is not null then
    perform internal.post_to_ledger(entries);
  end if;
  return null;
end
$$;

comment on function internal.shipping_moves_inventory is 'Books in the ledger what shipping, closing or canceling a shipment does.';

create trigger shipping_moves_inventory after update on api.shipments
  referencing old table as old_shipments new table as new_shipments
  for each statement execute function internal.shipping_moves_inventory();
--! EndIncluded receiving/shipping_moves_inventory.sql
--! Included receiving/shipped_shipment_is_not_deleted.sql
-- A shipment that has shipped, or has receipts, is not deleted (409): the ledger and the receipts speak of it.
create function internal.shipped_shipment_is_not_deleted() returns trigger
language plpgsql
security definer set search_path = ''
as $$
begin
  if old.status = 'shipped' or old.status <> 'unshipped' and old.shipped_time is not null or exists (
    select from api.inventory_adjustments e where e.business_id = old.business_id and e.cause_id = old.id
  ) then
    perform internal.refuse(409, format('Shipment %s has shipped: it cannot be deleted', old.shipment_number));
  elsif exists (
    select from api.shipment_receipts r where r.business_id = old.business_id and r.shipment_id = old.id
  ) then
    perform internal.refuse(409, format('Shipment %s has receipts: it cannot be deleted', old.shipment_number));
  end if;
  return old;
end
$$;

comment on function internal.shipped_shipment_is_not_deleted is 'Refuses (409) to delete a shipment that has shipped or has receipts.';

create trigger shipped_shipment_is_not_deleted before delete on api.shipments for each row
  execute function internal.shipped_shipment_is_not_deleted();
--! EndIncluded receiving/shipped_shipment_is_not_deleted.sql
--! Included receiving/receipt_needs_a_shipment_under_way.sql
-- No receipt is opened on a closed or canceled shipment, nor moved to one (409).
-- The shipment is locked, so that it is not closed or canceled meanwhile. A receipt that is complete from the start asks
-- for a destination as any completion does (P0001).
create function internal.receipt_needs_a_shipment_under_way() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  ended record;
begin
  perform from api.shipments s
  where s.id in (select shipment_id from new_receipts)
  order by s.id
  for no key update;
  select s.shipment_number, s.status into ended
  from api.shipments s
  where s.id in (select shipment_id from new_receipts) and s.status in ('closed', 'canceled')
  limit 1;
  if found then
    perform internal.refuse(409, format('Shipment %s is %s: it takes no receipt', ended.shipment_number, ended.status));
  elsif exists (
    select from new_receipts r
    join api.shipments s on s.business_id = r.business_id and s.id = r.shipment_id
    where r.completed_time is not null and s.location_to is null
  ) then
    raise exception using errcode = 'P0001', message = 'Shipment has no destination location';
  end if;
  return null;
end
$$;

comment on function internal.receipt_needs_a_shipment_under_way is 'Refuses (409) a receipt of a closed or canceled shipment.';

create trigger receipt_needs_a_shipment_under_way after insert on api.shipment_receipts
  referencing new table as new_receipts
  for each statement execute function internal.receipt_needs_a_shipment_under_way();

-- Moving an open receipt to another shipment asks the same of that one.
create function internal.moved_receipt_needs_a_shipment_under_way() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  target api.shipments;
begin
  select * into target from api.shipments s where s.id = new.shipment_id for no key update;
  if target.status in ('closed', 'canceled') then
    perform internal.refuse(409, format('Shipment %s is %s: it takes no receipt', target.shipment_number, target.status));
  end if;
  return new;
end
$$;

comment on function internal.moved_receipt_needs_a_shipment_under_way is
  'Refuses (409) to move a receipt to a closed or canceled shipment.';

create trigger moved_receipt_needs_a_shipment_under_way before update of shipment_id on api.shipment_receipts for each row
  when (old.shipment_id <> new.shipment_id) execute function internal.moved_receipt_needs_a_shipment_under_way();
--! EndIncluded receiving/receipt_needs_a_shipment_under_way.sql
--! Included receiving/completed_receipt_is_final.sql
-- A completed receipt is closed: no role inserts, updates, deletes or moves it or its items, on any path (docs/api.md).
-- Writing an item locks its receipt, so that no item slips in while the receipt is being completed.
create function internal.completed_receipt_is_final() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  raise exception using errcode = 'P0001', message = 'Cannot update a receipt that is already complete';
end
$$;

comment on function internal.completed_receipt_is_final is 'Refuses (P0001) any change of a completed receipt.';

create trigger completed_receipt_is_final before update or delete on api.shipment_receipts for each row
  when (old.completed_time is not null) execute function internal.completed_receipt_is_final();

create function internal.items_of_completed_receipt_are_final() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  receipts uuid[];
begin
  if tg_op = 'INSERT' then
    receipts := array(select shipment_receipt_id from new_items);
  elsif tg_op = 'UPDATE' then
    receipts := array(select shipment_receipt_id from old_items union select shipment_receipt_id from new_items);
  else
    receipts := array(select shipment_receipt_id from old_items);
  end if;

  perform from api.shipment_receipts where id = any (receipts) order by id for no key update;
  if exists (select from api.shipment_receipts where id = any (receipts) and completed_time is not null) then
    raise exception using errcode = 'P0001', message = 'Cannot update a receipt that is already complete';
  end if;
  return null;
end
$$;

comment on function internal.items_of_completed_receipt_are_final is
  'Refuses (P0001) any change of items of a completed receipt, and of items moved into or out of one.';

create trigger items_of_completed_receipt_are_final_on_insert after insert on api.shipment_receipt_items
  referencing new table as new_items
  for each statement execute function internal.items_of_completed_receipt_are_final();
create trigger items_of_completed_receipt_are_final_on_update after update on api.shipment_receipt_items
  referencing old table as old_items new table as new_items
  for each statement execute function internal.items_of_completed_receipt_are_final();
create trigger items_of_completed_receipt_are_final_on_delete after delete on api.shipment_receipt_items
  referencing old table as old_items
  for each statement execute function internal.items_of_completed_receipt_are_final();
--! EndIncluded receiving/completed_receipt_is_final.sql
--! Included receiving/completing_a_receipt_moves_inventory.sql
-- Completing a receipt books at the shipment's destination, per item of quantity q (docs/api.md):
--   available      available_to_sell +q
--   not available  unavailable +q
--   and incoming −(the smaller of q and what this shipment still has incoming of the item)
-- However the receipt comes to be completed; once, since a completed receipt does not change again.
-- Refuses a shipment without destination (P0001) and a canceled one (409).
create function internal.completing_a_receipt_moves_inventory() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  completed uuid[];
  received_shipments uuid[];
  problem record;
  entries internal.ledger_entry[];
begin
  select array_agg(after.id), array_agg(distinct after.shipment_id)
  into completed, received_shipments
  from new_receipts after
  join old_receipts before using (id)
  where before.completed_time is null and after.completed_time is not null;
  if completed is null then
    return null;
  end if;

  -- one completion of a shipment at a time: each must see what the others took off incoming
  perform from api.shipments where id = any (received_shipments) order by id for no key update;

  select s.shipment_number, s.status into problem
  from api.shipments s
  where s.id = any (received_shipments) and (s.location_to is null or s.status = 'canceled')
  limit 1;
  if found and problem.status = 'canceled' then
    perform internal.refuse(409, format('Shipment %s is canceled: its receipt cannot be completed', problem.shipment_number));
  elsif found then
    raise exception using errcode = 'P0001', message = 'Shipment has no destination location';
  end if;

  with received as (
    select
      r.business_id, r.id as receipt_id, r.shipment_id, s.shipment_number, s.status as shipment_status, s.location_to,
      i.inventory_item_id,
      sum(i.quantity) as quantity,
      coalesce(sum(i.quantity) filter (where i.available), 0) as usable
    from new_receipts r
    join api.shipments s on s.id = r.shipment_id
    join api.shipment_receipt_items i on i.business_id = r.business_id and i.shipment_receipt_id = r.id
    where r.id = any (completed)
    group by 1, 2, 3, 4, 5, 6, 7
  ),
  arrived as (
    select
      r.*,
      greatest(0, least(r.quantity, coalesce(incoming.quantity, 0) - (sum(r.quantity) over earlier - r.quantity))) as taken_off_incoming
    from received r
    left join internal.still_incoming(received_shipments, completed) incoming
      on incoming.shipment_id = r.shipment_id and incoming.inventory_item_id = r.inventory_item_id
      and r.shipment_status = 'shipped'
    window earlier as (partition by r.shipment_id, r.inventory_item_id order by r.receipt_id)
  )
  select array_agg(
    (
      business_id, location_to, inventory_item_id, change.status, 'ADJUST', change.quantity, 'shipment_receipt', receipt_id,
      format('Receipt of shipment %s', shipment_number), null
    )::internal.ledger_entry
    order by receipt_id, inventory_item_id, change.status
  )
  into entries
  from arrived
  cross join lateral (values
    ('incoming', -taken_off_incoming), ('available_to_sell', usable), ('unavailable', quantity - usable)
  ) as change (status, quantity)
  where change.quantity <> 0;

  if entries is not null then
    perform internal.post_to_ledger(entries);
  end if;
  return null;
end
$$;

comment on function internal.completing_a_receipt_moves_inventory is 'Books in the ledger what a completed receipt received.';

create trigger completing_a_receipt_moves_inventory after update on api.shipment_receipts
  referencing old table as old_receipts new table as new_receipts
  for each statement execute function internal.completing_a_receipt_moves_inventory();
--! EndIncluded receiving/completing_a_receipt_moves_inventory.sql
--! Included receiving/receipt_discrepancies.sql
-- Over-receipt is accepted, for the goods are there, and shown: per receipt the items of which its shipment's receipts
-- together hold more than was shipped.
create function internal.receipt_discrepancies(receipts uuid[])
returns table (shipment_receipt_id uuid, inventory_item_id uuid, sku text, shipped bigint, received bigint)
language sql stable
set search_path = ''
as $$
  with shipment as (
    select distinct r.business_id, r.shipment_id as id from api.shipment_receipts r where r.id = any (receipts)
  ),
  shipped as (
    select i.shipment_id, i.inventory_item_id, sum(i.quantity) as quantity
    from shipment s
    join api.shipment_items i on i.business_id = s.business_id and i.shipment_id = s.id
    group by 1, 2
  ),
  received as (
    select r.shipment_id, i.inventory_item_id, sum(i.quantity) as quantity,
      array_agg(distinct r.id) filter (where r.id = any (receipts)) as receipts
    from shipment s
    join api.shipment_receipts r on r.business_id = s.business_id and r.shipment_id = s.id
    join api.shipment_receipt_items i on i.business_id = r.business_id and i.shipment_receipt_id = r.id
    group by 1, 2
  )
  select receipt.id, received.inventory_item_id,
    (select item.sku from api.inventory_items item where item.id = received.inventory_item_id),
    coalesce(shipped.quantity, 0)::bigint, received.quantity::bigint
  from received
  left join shipped using (shipment_id, inventory_item_id)
  cross join unnest(received.receipts) as receipt (id)
  where received.quantity > coalesce(shipped.quantity, 0)
$$;

comment on function internal.receipt_discrepancies is
  'The items of receipts of which more was received, over all receipts of their shipment, than was shipped.';

grant execute on function internal.receipt_discrepancies to business, operator;
--! EndIncluded receiving/receipt_discrepancies.sql
--! Included receiving/shipment_receipts_in_full.sql
-- Receipts with their items, as calls return them and webhooks carry them.
-- Items come in the order of `first_items`, then the others as they were created.
create function internal.shipment_receipts_in_full(receipts uuid[], first_items uuid[] default '{}')
returns table (id uuid, document jsonb)
language sql stable
set search_path = ''
as $$
  select r.id, to_jsonb(r) || jsonb_build_object('items', coalesce(items.document, '[]'))
  from api.shipment_receipts r
  left join (
    select i.shipment_receipt_id,
      jsonb_agg(to_jsonb(i) || jsonb_build_object('sku', (
        select item.sku from api.inventory_items item where item.business_id = i.business_id and item.id = i.inventory_item_id
      )) order by listed.position, i.id) as document
    from api.shipment_receipts r
    join api.shipment_receipt_items i on i.business_id = r.business_id and i.shipment_receipt_id = r.id
    left join unnest(first_items) with ordinality as listed (id, position) on listed.id = i.id
    where r.id = any (receipts)
    group by 1
  ) items on items.shipment_receipt_id = r.id
  where r.id = any (receipts)
$$;

comment on function internal.shipment_receipts_in_full is 'Receipts as JSON objects with their items.';

grant execute on function internal.shipment_receipts_in_full to business, operator;
--! EndIncluded receiving/shipment_receipts_in_full.sql
--! Included receiving/upsert_shipment_receipts_full.sql
-- Creates or updates receipts of a shipment with their items: one transaction, all or nothing (docs/api.md).
--   * the shipment is found by its number, items by SKU; the shipment itself is not changed
--   * a receipt is matched within its shipment, an item within its receipt: by id, else by external_ids (the stored object
--     contains every pair given, and only one does: 409 otherwise), else it is new
--   * with patch, fields and items that are not named stay; without, the receipt becomes exactly what is given
--   * completed_time comes last, after the items: completing_a_receipt_moves_inventory.sql
-- Refuses a completed receipt (P0001) and whatever is wrong with the input (400, by path).
create function api.upsert_shipment_receipts_full(shipment_receipts_full jsonb default null, patch boolean default true) returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  business constant text := shipment_receipts_full ->> 'business_id';
  shipment api.shipments;
  given jsonb[];
  given_prefixes text[];
  known uuid[];
  receipt_ids uuid[];
  lines jsonb[];
  line_receipts uuid[];
  known_lines uuid[];
  line_prefixes text[];
  line_items uuid[];
  line_ids uuid[];
begin
  if patch is null then
    perform internal.refuse_input('patch: must be true or false');
  end if;
  perform internal.check_input(
    '{""}', array[shipment_receipts_full], null,
    '{"business_id": "uuid", "shipment_id": "uuid", "shipment_number": "text", "receipts": "array"}',
    '{business_id, shipment_number, receipts}'
  );
  given := array(select value from jsonb_array_elements(shipment_receipts_full -> 'receipts'));
  given_prefixes := array(select format('receipts[%s].', n - 1) from generate_series(1, cardinality(given)) n);
  perform internal.check_input(
    given_prefixes,
    given,
    'api.shipment_receipts',
    '{"items": "array", "discrepancies": "array"}',
    '{received_time, items}'
  );
  select
    array_agg(i.value order by r.position, i.position),
    array_agg(format('receipts[%s].items[%s].', r.position - 1, i.position - 1) order by r.position, i.position)
  into lines, line_prefixes
  from unnest(given) with ordinality as r (value, position)
  cross join lateral jsonb_array_elements(r.value -> 'items') with ordinality as i (value, position);
  perform internal.check_input(
    line_prefixes,
    lines,
    'api.shipment_receipt_items',
    '{"sku": "text", "quantity": "positive integer"}',
    '{sku, quantity, receipt_time}'
  );

  perform internal.require_business(business::uuid);
  select s.* into shipment
  from api.shipments s
  where s.business_id = business::uuid and s.shipment_number = shipment_receipts_full ->> 'shipment_number';
  if not found then
    perform internal.refuse_input(format('shipment_number: no shipment "%s"', shipment_receipts_full ->> 'shipment_number'));
  end if;

  -- one such call of a shipment at a time, else two would each create what the other creates
  perform pg_advisory_xact_lock(hashtextextended('upsert_shipment_receipts_full ' || shipment.id, 0));

  known := internal.match_existing(
    'api.shipment_receipts', shipment.business_id, 'shipment_id', array_fill(shipment.id, array[cardinality(given)]), given_prefixes, given
  );
  perform from api.shipment_receipts s where s.id = any (known) order by s.id for no key update;
  if exists (select from api.shipment_receipts s where s.id = any (known) and s.completed_time is not null) then
    raise exception using errcode = 'P0001', message = 'Cannot update a receipt that is already complete';
  end if;
  receipt_ids := array(
    select coalesce(known_id, (value ->> 'id')::uuid, uuidv7())
    from unnest(known, given) with ordinality as r (known_id, value, position)
    order by position
  );

  select array_agg(receipt_ids[r.position] order by r.position, i.position)
  into line_receipts
  from unnest(given) with ordinality as r (value, position)
  cross join lateral jsonb_array_elements(r.value -> 'items') with ordinality as i (value, position);
  line_items := internal.match_items(shipment.business_id, line_prefixes, lines);
  known_lines := internal.match_existing(
    'api.shipment_receipt_items', shipment.business_id, 'shipment_receipt_id', line_receipts, line_prefixes, lines
  );
  line_ids := array(
    select coalesce(known_id, (value ->> 'id')::uuid, uuidv7())
    from unnest(known_lines, lines) with ordinality as l (known_id, value, position)
    order by position
  );

  perform internal.upsert_rows(
    'api.shipment_receipts',
    array(
      select value - '{completed_time, items, discrepancies}'::text[]
        || jsonb_build_object('id', id, 'business_id', shipment.business_id, 'shipment_id', shipment.id)
      from unnest(given, receipt_ids) with ordinality as r (value, id, position)
      order by position
    ),
    array_remove(known, null),
    patch
  );
  if not patch then
    delete from api.shipment_receipt_items s
    where s.business_id = shipment.business_id and s.shipment_receipt_id = any (known) and s.id <> all (line_ids);
  end if;
  perform internal.upsert_rows(
    'api.shipment_receipt_items',
    array(
      select value - 'sku' || jsonb_build_object(
        'id', id, 'business_id', shipment.business_id, 'shipment_receipt_id', receipt_id, 'inventory_item_id', item_id
      )
      from unnest(lines, line_ids, line_receipts, line_items) with ordinality as l (value, id, receipt_id, item_id, position)
      order by position
    ),
    array_remove(known_lines, null),
    patch
  );
  update api.shipment_receipts s set completed_time = (r.value ->> 'completed_time')::timestamptz
  from unnest(receipt_ids, given) as r (id, value)
  where s.id = r.id and r.value ->> 'completed_time' is not null;

  return jsonb_build_object(
    'business_id', shipment.business_id,
    'shipment_id', shipment.id,
    'shipment_number', shipment.shipment_number,
    'receipts', (
      select coalesce(jsonb_agg(
        receipt.document || jsonb_build_object('discrepancies', coalesce(discrepancies.document, '[]')) order by r.position
      ), '[]')
      from unnest(receipt_ids) with ordinality as r (id, position)
      join internal.shipment_receipts_in_full(receipt_ids, line_ids) receipt using (id)
      left join (
        select d.shipment_receipt_id as id,
          jsonb_agg(to_jsonb(d) - 'shipment_receipt_id' order by d.sku) as document
        from internal.receipt_discrepancies(receipt_ids) d
        group by 1
      ) discrepancies using (id)
    )
  );
end
$$;

comment on function api.upsert_shipment_receipts_full is
  'Creates or updates receipts of a shipment with their items, all or nothing. '
  'shipment_receipts_full: {business_id, shipment_number, receipts: [{received_time, completed_time, external_ids, items: [{sku, quantity, receipt_time, external_ids, available, comment}]}]}. '
  'Receipts and items are matched by id, else by external_ids. patch (default true): what is not named stays; false: receipts become exactly what is given. '
  'completed_time closes a receipt and adjusts inventory. Answers the receipts in full, with discrepancies. '
  '400 (P0001) naming the field when the input is wrong or a receipt is already complete; 409 when external_ids match several.';

grant execute on function api.upsert_shipment_receipts_full to business, operator;
--! EndIncluded receiving/upsert_shipment_receipts_full.sql
--! Included receiving/shipments_in_full.sql
-- Shipments with their packages and items, as calls return them and webhooks carry them.
-- `items` of the shipment are those in no package.
create function internal.shipments_in_full(shipments uuid[])
returns table (id uuid, document jsonb)
language sql stable
set search_path = ''
as $$
  with item as (
    select i.shipment_id, i.shipment_package_id,
      jsonb_agg(
        to_jsonb(i) || jsonb_build_object('sku', product.sku, 'title', product.title) order by i.line_number, i.id
      ) as documents
    from api.shipments s
    join api.shipment_items i on i.business_id = s.business_id and i.shipment_id = s.id
    join api.inventory_items product on product.business_id = i.business_id and product.id = i.inventory_item_id
    where s.id = any (shipments)
    group by 1, 2
  ),
  package as (
    select p.shipment_id, jsonb_agg(
      to_jsonb(p) || jsonb_build_object('items', coalesce(item.documents, '[]')) order by p.id
    ) as documents
    from api.shipments s
    join api.shipment_packages p on p.business_id = s.business_id and p.shipment_id = s.id
    left join item on item.shipment_id = p.shipment_id and item.shipment_package_id = p.id
    where s.id = any (shipments)
    group by 1
  )
  select s.id, to_jsonb(s) || jsonb_build_object(
    'packages', coalesce(package.documents, '[]'),
    'items', coalesce(item.documents, '[]')
  )
  from api.shipments s
  left join package on package.shipment_id = s.id
  left join item on item.shipment_id = s.id and item.shipment_package_id is null
  where s.id = any (shipments)
$$;

comment on function internal.shipments_in_full is 'Shipments as JSON objects with their packages and items.';

grant execute on function internal.shipments_in_full to business, operator;
--! EndIncluded receiving/shipments_in_full.sql
--! Included receiving/upsert_shipments_full.sql
-- Creates or updates a shipment with its packages, items, address and locations: one transaction, all or nothing.
--   * the shipment is matched by id, else by shipment_number; packages and items within it by id, else by external_ids
--   * items name their inventory item by sku or inventory_item_id, the order by order_number (its purchase_order_number
--     or channel_order_id), locations by id, legacy_id or name
--   * with patch, fields and children that are not named stay; without, the shipment becomes exactly what is given
--   * status comes last, after the items, so that a shipment may be created shipped
create function api.upsert_shipments_full(shipment jsonb default null, patch boolean default true) returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  business uuid;
  stored api.shipments;
  target_id uuid;
  links jsonb := jsonb_build_object();
  packages jsonb[];
  package_prefixes text[];
  known_packages uuid[];
  package_ids uuid[];
  lines jsonb[];
  line_prefixes text[];
  line_packages uuid[];
  known_lines uuid[];
  line_ids uuid[];
  problem text;
begin
  if patch is null then
    perform internal.refuse_input('patch: must be true or false');
  end if;
  perform internal.check_input(
    '{""}', array[shipment], 'api.shipments',
    '{"order_number": "text", "from_location": "object", "to_location": "object", "billing_address": "object",
      "packages": "array", "items": "array"}',
    '{business_id, shipment_number}'
  );
  business := (shipment ->> 'business_id')::uuid;
  perform internal.require_business(business);
  packages := array(select value from jsonb_array_elements(nullif(shipment -> 'packages', 'null')));
  package_prefixes := array(select format('packages[%s].', n - 1) from generate_series(1, cardinality(packages)) n);
  perform internal.check_input(package_prefixes, packages, 'api.shipment_packages', '{"items": "array"}', '{}');
  perform internal.check_input(
    array(select prefix || 'dimension.' from unnest(package_prefixes) with ordinality as p (prefix, position) order by position),
    array(
      select coalesce(nullif(package -> 'dimension', 'null'), '{}')
      from unnest(packages) with ordinality as p (package, position)
      order by position
    ),
    null,
    '{"length": "numeric", "width": "numeric", "height": "numeric", "unit": "text"}',
    '{}'
  );

  perform pg_advisory_xact_lock(hashtextextended('upsert_shipments_full ' || business || (shipment ->> 'shipment_number'), 0));
  target_id := internal.find_one(
    'api.shipments', business, shipment - 'external_ids',
    natural_keys => jsonb_build_array(jsonb_build_object('shipment_number', shipment -> 'shipment_number'))
  );
  select s.* into stored from api.shipments s where s.id = target_id;
  target_id := coalesce(target_id, (shipment ->> 'id')::uuid, uuidv7());

  if shipment ->> 'order_number' is not null then
    links := links || jsonb_build_object('order_id', internal.find_order(business, shipment ->> 'order_number', 'order_number'));
  end if;
  if coalesce(shipment -> 'from_location', 'null') <> 'null' then
    links := links || jsonb_build_object('location_from',
      internal.upsert_location(business, shipment -> 'from_location', 'from_location.', patch));
  end if;
  if coalesce(shipment -> 'to_location', 'null') <> 'null' then
    links := links || jsonb_build_object('location_to',
      internal.upsert_location(business, shipment -> 'to_location', 'to_location.', patch));
  end if;
  if coalesce(shipment -> 'billing_address', 'null') <> 'null' then
    links := links || jsonb_build_object('billing_address_id', internal.upsert_address(
      business, shipment -> 'billing_address', 'billing_address.', stored.billing_address_id, patch));
  end if;
  perform internal.upsert_rows(
    'api.shipments',
    array[
      shipment - '{order_number, from_location, to_location, billing_address, packages, items}'::text[] || links
        || jsonb_build_object('id', target_id, 'status', coalesce(stored.status, 'unshipped'))
    ],
    array_remove(array[stored.id], null),
    patch
  );

  known_packages := internal.match_existing(
    'api.shipment_packages', business, 'shipment_id',
    array_fill(target_id, array[cardinality(packages)]), package_prefixes, packages
  );
  package_ids := array(
    select coalesce(known_id, (package ->> 'id')::uuid, uuidv7())
    from unnest(known_packages, packages) with ordinality as p (known_id, package, position)
    order by position
  );
  perform internal.upsert_rows(
    'api.shipment_packages',
    array(
      select package - 'items' || jsonb_build_object('id', id, 'business_id', business, 'shipment_id', target_id)
      from unnest(packages, package_ids) with ordinality as p (package, id, position)
      order by position
    ),
    array_remove(known_packages, null),
    patch
  );

  select
    array_agg(line order by part, position),
    array_agg(prefix || format('items[%s].', position - 1) order by part, position),
    array_agg(package_id order by part, position)
  into lines, line_prefixes, line_packages
  from (
    select p.position as part, package_prefixes[p.position] as prefix, package_ids[p.position] as package_id,
      i.value as line, i.position
    from unnest(packages) with ordinality as p (package, position)
    cross join lateral jsonb_array_elements(nullif(p.package -> 'items', 'null')) with ordinality as i (value, position)
    union all
    select cardinality(packages) + 1, '', null, i.value, i.position
    from jsonb_array_elements(nullif(shipment -> 'items', 'null')) with ordinality as i (value, position)
  ) line;
  perform internal.check_input(
    line_prefixes, lines, 'api.shipment_items', '{"sku": "text", "title": "text", "quantity": "positive integer"}', '{}'
  );
  known_lines := internal.match_existing(
    'api.shipment_items', business, 'shipment_id',
    array_fill(target_id, array[coalesce(cardinality(lines), 0)]), line_prefixes, lines
  );
  select prefix || case when line ->> 'quantity' is null then 'quantity: is required' else 'sku: is required' end
  into problem
  from unnest(lines, line_prefixes, known_lines) with ordinality as l (line, prefix, known_id, position)
  where known_id is null
    and (line ->> 'quantity' is null or coalesce(line ->> 'sku', line ->> 'inventory_item_id') is null)
  order by position
  limit 1;
  if found then
    perform internal.refuse_input(problem);
  end if;
  line_ids := array(
    select coalesce(known_id, (line ->> 'id')::uuid, uuidv7())
    from unnest(known_lines, lines) with ordinality as l (known_id, line, position)
    order by position
  );

  if not patch then
    delete from api.shipment_items i
    where i.business_id = business and i.shipment_id = target_id and i.id <> all (line_ids);
  end if;
  perform internal.upsert_rows(
    'api.shipment_items',
    array(
      select line - '{sku, title}'::text[]
        || jsonb_build_object('id', id, 'business_id', business, 'shipment_id', target_id)
        || case when item_id is null then '{}' else jsonb_build_object('inventory_item_id', item_id) end
        || case when package_id is null then '{}' else jsonb_build_object('shipment_package_id', package_id) end
      from unnest(lines, line_ids, line_packages, internal.match_items(business, line_prefixes, lines))
        with ordinality as l (line, id, package_id, item_id, position)
      order by position
    ),
    array_remove(known_lines, null),
    patch
  );
  if not patch then
    delete from api.shipment_packages p
    where p.business_id = business and p.shipment_id = target_id and p.id <> all (package_ids);
  end if;

  update api.shipments s set status = (shipment ->> 'status')::api.shipment_status
  where s.id = target_id and s.status <> (shipment ->> 'status')::api.shipment_status;

  return (select document from internal.shipments_in_full(array[target_id]));
end
$$;

comment on function api.upsert_shipments_full is
  'Creates or updates a shipment with packages, items, address and locations, all or nothing. '
  'shipment: {business_id, shipment_number, status, order_number, from_location: {id or name}, to_location: {id or name}, '
  'billing_address, packages: [{..., items}], items: [{sku, quantity, ...}], ...}. '
  'Matched by id, else shipment_number; packages and items by id, else external_ids. '
  'patch (default true): what is not named stays; false: the shipment becomes exactly what is given. '
  'Answers the shipment in full. 400 (P0001) naming the field when the input is wrong; 409 when its state does not allow the change.';

grant execute on function api.upsert_shipments_full to business, operator;
--! EndIncluded receiving/upsert_shipments_full.sql

-- steps: how warehouses are connected
--! Included steps/is_http_address.sql
-- Addresses that a business writes down are http or https, without blanks. Where they lead is checked on each connection.
create function internal.is_http_address(address text) returns boolean
language sql immutable strict parallel safe
set search_path = ''
as $$
  select address ~* '^https?://[^\s/?#]+([/?#]\S*)?$'
$$;

comment on function internal.is_http_address is 'Whether a text is an http or https address.';

grant execute on function internal.is_http_address to business, operator;
--! EndIncluded steps/is_http_address.sql
--! Included webhooks/delivery_address.sql
-- The address of this installation's own delivery: a configuration with it as producer_url is delivered from here.
create function internal.delivery_address() returns text
language sql stable
set search_path = ''
as $$
  select internal.setting('public_url') || '/v1/deliveries'
$$;

comment on function internal.delivery_address is
  'The producer_url of configurations that this installation delivers itself.';
--! EndIncluded webhooks/delivery_address.sql
--! Included steps/address_is_allowed.sql
-- Addresses that a business writes down must lead to the public internet, unless the operator of this installation allows
-- private ones. This looks at the address as written, when it is saved; what it resolves to is checked on each connection.
create function internal.set_allow_private_addresses(allowed boolean) returns void
language sql
set search_path = ''
as $$
  insert into internal.settings as s (name, value) values ('allow_private_addresses', allowed::text)
  on conflict (name) do update set value = excluded.value where s.value <> excluded.value
$$;

comment on function internal.set_allow_private_addresses is
  'Tells the database whether addresses of private networks may be saved. Run at each start.';

create function internal.is_public_address(address text) returns boolean
language sql immutable strict
set search_path = ''
as $$
  with host as (
    select rtrim(lower(substring(address from '^[hH][tT][tT][pP][sS]?://(?:[^/?#]*@)?(\[[^\]/?#]*\]|[^/?#:]*)')), '.') as host
  ),
  literal as (
    select host, case
      when host ~ '^\[.*\]$' then btrim(host, '[]')
      when host ~ '(^|\.)(0x[0-9a-f]*|[0-9]+)$' then host
    end as ip
    from host
  )
  select case
    when host is null or host = '' or host ~ '(^|\.)localhost$' or host ~ '[%\\]' then false
    when ip is null then true
    -- octal, hexadecimal, decimal and short forms
    when not pg_input_is_valid(ip, 'inet') or ip ~ '/' then false
    when ip !~ ':' and ip !~ '^(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){3}$' then false
    when ip ~ ':' then ip::inet <<= '2000::/3'
      and not ip::inet <<= any ('{2001::/23,2001:db8::/32,2002::/16,3fff::/20}'::inet[])
    else not ip::inet <<= any ('{
      0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,127.0.0.0/8,169.254.0.0/16,172.16.0.0/12,192.0.0.0/24,192.0.2.0/24,192.88.99.0/24,
      192.168.0.0/16,198.18.0.0/15,198.51.100.0/24,203.0.113.0/24,224.0.0.0/4,240.0.0.0/4}'::inet[])
  end
  from literal
$$;

comment on function internal.is_public_address is
  'Whether an http address, as written, may lead to the public internet: no localhost, no literal of a private network.';

create function internal.address_is_allowed(address text) returns boolean
language sql stable
set search_path = ''
as $$
  select address is null or coalesce(internal.setting('allow_private_addresses'), 'false') = 'true'
    or address = internal.delivery_address() or internal.is_public_address(address)
$$;

comment on function internal.address_is_allowed is 'Whether an address may be saved: it is public as written, or private ones are allowed here.';

create function internal.addresses_must_be_public() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  given constant jsonb := to_jsonb(new);
  field text;
begin
  foreach field in array tg_argv loop
    if not internal.address_is_allowed(given ->> field) then
      perform internal.refuse(400, field || ': must be a public address');
    end if;
  end loop;
  return new;
end
$$;

comment on function internal.addresses_must_be_public is 'Refuses (400) private addresses in the columns that its arguments name.';
--! EndIncluded steps/address_is_allowed.sql
--! Included steps/process_shipments_steps.sql
-- The process-shipments step of a business: which warehouses may post fulfillment receipts to its callback address,
-- and for which orders. Its id is the supplier id of that address.
create type api.step_version as enum ('STAGING', 'PRODUCTION');

comment on type api.step_version is 'STAGING for a staging business, otherwise PRODUCTION.';

create table api.process_shipments_steps (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  name text,
  is_synchronous boolean not null default true,
  is_authenticated boolean not null default true constraint callbacks_are_always_authenticated check (is_authenticated),
  version api.step_version not null default 'PRODUCTION',
  channel_ids uuid[] not null default '{}',
  virtual_location_id uuid,
  warehouse_location_map jsonb not null default '[]',
  zeroes_short_inventory boolean not null default false,
  callback_url text,
  creation_time timestamptz default now(),
  update_time timestamptz,
  foreign key (business_id, virtual_location_id) references api.locations (business_id, id)
);

create index on api.process_shipments_steps (business_id, virtual_location_id);

call internal.seal_tenant_table('api.process_shipments_steps');

comment on table api.process_shipments_steps is
  'Process-shipments steps: each receives the fulfillment receipts that warehouses post to its callback_url.';
comment on column api.process_shipments_steps.id is 'Primary key; the supplier id in callback_url.';
comment on column api.process_shipments_steps.business_id is 'Business that the step is installed for.';
comment on column api.process_shipments_steps.name is 'Name of the step.';
comment on column api.process_shipments_steps.is_synchronous is
  'Whether a callback is answered with its result (200, 204). False: it is checked, queued and answered 202.';
comment on column api.process_shipments_steps.is_authenticated is
  'Always true: callbacks carry the headers apikey and Authorization.';
comment on column api.process_shipments_steps.version is 'STAGING for a staging business, otherwise PRODUCTION.';
comment on column api.process_shipments_steps.channel_ids is
  'Channels whose orders the step takes; empty: all. Each must be a channel of the business; a channel named here '
  'is not deleted.';
comment on column api.process_shipments_steps.virtual_location_id is
  'Virtual sales channel location: its inventory is adjusted too when units that are committed there ship.';
comment on column api.process_shipments_steps.warehouse_location_map is
  'Array of {warehouse, company, locationId, name, id, zipCode, webhookUrl, cancelEndpoint}: the locations that '
  'callbacks may name. '
  'locationId is required: the id of a location of the business, or its legacy_id as text; no location twice. '
  'A location named here is not deleted.';
comment on column api.process_shipments_steps.zeroes_short_inventory is
  'Whether an item that a warehouse ships short is set so that nothing more of it is promised from there.';
comment on column api.process_shipments_steps.callback_url is
  'Address that warehouses post to. Computed; whatever is sent is ignored.';
comment on column api.process_shipments_steps.creation_time is 'When the record was created.';
comment on column api.process_shipments_steps.update_time is 'When the record was last changed.';

grant select, insert, update, delete on api.process_shipments_steps to business, operator;
--! EndIncluded steps/process_shipments_steps.sql
--! Included steps/callback_url_is_computed.sql
-- A step's callback_url follows from the public address of this installation and the step's id, whatever a client sends.
create function internal.callback_url(step_id uuid) returns text
language sql stable
set search_path = ''
as $$
  select internal.setting('public_url') || '/v1/suppliers/' || step_id || '/callbacks'
$$;

comment on function internal.callback_url is 'The address that warehouses post the callbacks of a step to.';

create function internal.callback_url_is_computed() returns trigger
language plpgsql
security definer set search_path = ''
as $$
begin
  new.callback_url := internal.callback_url(new.id);
  return new;
end
$$;

comment on function internal.callback_url_is_computed is 'Sets callback_url of a process-shipments step.';

create trigger callback_url_is_computed before insert or update on api.process_shipments_steps for each row
  execute function internal.callback_url_is_computed();
--! EndIncluded steps/callback_url_is_computed.sql
--! Included steps/send_orders_steps.sql
-- The send-orders step of a business: which warehouse address gets the fulfillments that become NEW at its locations.
create table api.send_orders_steps (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  name text,
  is_enabled boolean not null default true,
  payload_url text constraint payload_url_is_http check (internal.is_http_address(payload_url)),
  auth_query_field text check (auth_query_field <> ''),
  auth_query_value text,
  warehouse_location_map jsonb not null default '[]',
  creation_time timestamptz default now(),
  update_time timestamptz,
  constraint every_mapped_location_has_an_address check (
    payload_url is not null
    or not jsonb_path_exists(warehouse_location_map, '$[*] ? (!exists(@.webhookUrl) || @.webhookUrl == null)')
  )
);

call internal.seal_tenant_table('api.send_orders_steps');

comment on table api.send_orders_steps is
  'Send-orders steps: each posts the fulfillments that become NEW at its mapped locations to a warehouse.';
comment on column api.send_orders_steps.id is 'Primary key.';
comment on column api.send_orders_steps.business_id is 'Business that the step is installed for.';
comment on column api.send_orders_steps.name is 'Name of the step.';
comment on column api.send_orders_steps.is_enabled is 'Whether the step sends.';
comment on column api.send_orders_steps.payload_url is
  'Address (http or https) that orders are posted to. May be null only when every entry of the map has a webhookUrl.';
comment on column api.send_orders_steps.auth_query_field is
  'Name of the query parameter that authenticates at payload_url. Null: none, and the stored value is forgotten.';
comment on column api.send_orders_steps.auth_query_value is
  'Value of that query parameter. Write only: kept apart and always read as null. Null leaves what is stored; '
  'to forget it, set auth_query_field to null.';
comment on column api.send_orders_steps.warehouse_location_map is
  'Array of {warehouse, company, locationId, name, id, zipCode, webhookUrl, cancelEndpoint}: the locations whose '
  'fulfillments are sent. '
  'locationId is required: the id of a location of the business, or its legacy_id as text; no location twice. '
  'webhookUrl is used instead of payload_url. A location named here is not deleted.';
comment on column api.send_orders_steps.creation_time is 'When the record was created.';
comment on column api.send_orders_steps.update_time is 'When the record was last changed.';

grant select, insert, update, delete on api.send_orders_steps to business, operator;

create trigger addresses_must_be_public before insert or update of payload_url on api.send_orders_steps for each row
  execute function internal.addresses_must_be_public('payload_url');
--! EndIncluded steps/send_orders_steps.sql
--! Included steps/send_orders_secrets.sql
-- The authentication values of send-orders steps. Readable by the owner only.
create table internal.send_orders_secrets (
  business_id uuid not null,
  send_orders_step_id uuid not null,
  auth_query_value text not null,
  primary key (business_id, send_orders_step_id),
  foreign key (business_id, send_orders_step_id) references api.send_orders_steps (business_id, id) on delete cascade
);

comment on table internal.send_orders_secrets is
  'Value of the query parameter that a send-orders step authenticates with, one row per step that has one.';

alter table internal.send_orders_secrets replica identity using index send_orders_secrets_pkey;
alter table internal.send_orders_secrets enable row level security, force row level security;
create policy every_business on internal.send_orders_secrets to current_user using (true);
--! EndIncluded steps/send_orders_secrets.sql
--! Included steps/auth_query_value_is_write_only.sql
-- auth_query_value is never in its table, so that no answer, error or replica shows it. It is kept in
-- internal.send_orders_secrets.
--   a value                  is stored, instead of what was
--   null                     leaves what is stored
--   auth_query_field null    forgets what is stored; refused (400) together with a value
-- The value waits in a setting of the transaction until the row is in place: a row that ON CONFLICT DO NOTHING skips
-- has passed its BEFORE trigger too, and must not change the secret of the row that is there.
create function internal.auth_query_value_is_write_only() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if new.auth_query_field is null then
    perform internal.refuse(400, 'auth_query_field: is required with auth_query_value');
  end if;
  perform set_config(
    'lading.send_orders_secrets',
    (internal.waiting_send_orders_secrets() || jsonb_build_object(new.id, new.auth_query_value))::text,
    true
  );
  new.auth_query_value := null;
  return new;
end
$$;

comment on function internal.auth_query_value_is_write_only is
  'Takes auth_query_value out of a row that is about to be written.';

create function internal.waiting_send_orders_secrets() returns jsonb
language sql stable
set search_path = ''
as $$
  select coalesce(nullif(current_setting('lading.send_orders_secrets', true), ''), '{}')::jsonb
$$;

comment on function internal.waiting_send_orders_secrets is
  'Values taken out of rows by the statement that runs: {step id: value}.';

grant execute on function internal.waiting_send_orders_secrets to business, operator;

create function internal.keep_send_orders_secrets() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  waiting jsonb := internal.waiting_send_orders_secrets();
begin
  insert into internal.send_orders_secrets as s (send_orders_step_id, business_id, auth_query_value)
  select w.id, w.business_id, waiting ->> w.id::text
  from written w
  where waiting ? w.id::text
  on conflict (business_id, send_orders_step_id) do update set auth_query_value = excluded.auth_query_value;

  delete from internal.send_orders_secrets s
  using written w
  where s.send_orders_step_id = w.id and w.auth_query_field is null;

  perform set_config(
    'lading.send_orders_secrets',
    case tg_op when 'INSERT' then '' else (waiting - array(select w.id::text from written w))::text end,
    true
  );
  return null;
end
$$;

comment on function internal.keep_send_orders_secrets is
  'Stores the values taken out of the rows that a statement wrote.';

create trigger auth_query_value_is_write_only before insert or update on api.send_orders_steps for each row
  when (new.auth_query_value is not null) execute function internal.auth_query_value_is_write_only();

create trigger keep_send_orders_secrets_of_new_steps after insert on api.send_orders_steps
  referencing new table as written
  for each statement execute function internal.keep_send_orders_secrets();

create trigger keep_send_orders_secrets_of_changed_steps after update on api.send_orders_steps
  referencing new table as written
  for each statement execute function internal.keep_send_orders_secrets();
--! EndIncluded steps/auth_query_value_is_write_only.sql
--! Included steps/warehouse_locations.sql
-- The entries of all location maps, each with the location that it names: what callbacks and send-orders look up.
-- Kept by location_map_must_name_locations. A location that a map names is not deleted.
create table internal.warehouse_locations (
  id uuid primary key default uuidv7(),
  business_id uuid not null,
  process_shipments_step_id uuid,
  send_orders_step_id uuid,
  location_id uuid not null,
  entry jsonb not null,
  unique (business_id, id),
  constraint belongs_to_one_step check (num_nonnulls(process_shipments_step_id, send_orders_step_id) = 1),
  unique (business_id, process_shipments_step_id, location_id),
  unique (business_id, send_orders_step_id, location_id),
  foreign key (business_id, process_shipments_step_id) references api.process_shipments_steps (business_id, id)
    on delete cascade,
  foreign key (business_id, send_orders_step_id) references api.send_orders_steps (business_id, id) on delete cascade,
  foreign key (business_id, location_id) references api.locations (business_id, id)
);

create index on internal.warehouse_locations (business_id, location_id);

comment on table internal.warehouse_locations is
  'Entries of the location maps of all steps, each with the id of its location.';

alter table internal.warehouse_locations replica identity using index warehouse_locations_business_id_id_key;
alter table internal.warehouse_locations enable row level security, force row level security;
create policy every_business on internal.warehouse_locations to current_user using (true);
--! EndIncluded steps/warehouse_locations.sql
--! Included steps/read_location_map.sql
-- Reads a location map: its entries, each with the location of the business that it names.
-- Refuses (400), naming the path, the first entry that is not an object, has an unknown or non-text field, lacks its
-- locationId, names no location or one that is named before, or has an address that is not http or https, or not
-- public where it must be.
create function internal.read_location_map(business_id uuid, location_map jsonb)
returns table (location_id uuid, entry jsonb)
language plpgsql stable
set search_path = ''
as $$
declare
  problem text;
begin
  if jsonb_typeof(location_map) <> 'array' then
    perform internal.refuse(400, 'warehouse_location_map: must be an array');
  end if;

  with entries as materialized (
    select
      n,
      e.entry,
      format('warehouse_location_map[%s]', n - 1) as path,
      internal.find_location(business_id, e.entry ->> 'locationId') as location
    from jsonb_array_elements(location_map) with ordinality as e (entry, n)
  ),
  fields as (
    select n, path || '.' || key as path, key, value
    from entries, jsonb_each(case jsonb_typeof(entries.entry) when 'object' then entries.entry else '{}' end)
  ),
  problems (n, rank, text) as (
    select n, 1, path || ': must be an object' from entries where jsonb_typeof(entries.entry) <> 'object'
    union all
    select n, 2, format('warehouse_location_map[%s]: unknown field %s', n - 1, to_json(left(key, 100))) from fields
    where key not in ('warehouse', 'company', 'locationId', 'name', 'id', 'zipCode', 'webhookUrl', 'cancelEndpoint')
    union all
    select n, 3, path || ': must be text' from fields where jsonb_typeof(value) not in ('string', 'null')
    union all
    select n, 4, path || '.locationId: is required' from entries where entries.entry ->> 'locationId' is null
    union all
    select n, 5, format('%s.locationId: no location %s', path, to_json(left(entries.entry ->> 'locationId', 100)))
    from entries where location is null
    union all
    select n, 6, format('%s.locationId: the same location as warehouse_location_map[%s]', path, first - 1)
    from (select *, min(n) over (partition by location) as first from entries) named
    where n > first
    union all
    select n, 7, path || ': must be an http or https address' from fields
    where key in ('webhookUrl', 'cancelEndpoint') and not internal.is_http_address(value #>> '{}')
    union all
    select n, 8, path || ': must be a public address' from fields
    where key in ('webhookUrl', 'cancelEndpoint') and not internal.address_is_allowed(value #>> '{}')
  )
  select p.text into problem from problems p order by p.n, p.rank, p.text limit 1;

  if problem is not null then
    perform internal.refuse(400, problem);
  end if;

  return query
  select internal.find_location(business_id, e.entry ->> 'locationId'), e.entry
  from jsonb_array_elements(location_map) as e (entry);
end
$$;

comment on function internal.read_location_map is
  'The entries of a location map, each with its location. Refuses (400) a map that is not right, naming the path.';
--! EndIncluded steps/read_location_map.sql
--! Included steps/location_map_must_name_locations.sql
-- The location map of a step names locations of its business, none twice.
--   writes   internal.warehouse_locations, one row per entry
--   refuses  (400) what internal.read_location_map refuses
-- It runs after the row is in place, when row-level security has passed it: nothing is learnt of another business.
create function internal.location_map_must_name_locations() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  process_shipments_step uuid := case tg_table_name when 'process_shipments_steps' then new.id end;
  send_orders_step uuid := case tg_table_name when 'send_orders_steps' then new.id end;
begin
  delete from internal.warehouse_locations w
  where w.business_id = new.business_id
    and (w.process_shipments_step_id = process_shipments_step or w.send_orders_step_id = send_orders_step);

  insert into internal.warehouse_locations
    (business_id, process_shipments_step_id, send_orders_step_id, location_id, entry)
  select new.business_id, process_shipments_step, send_orders_step, m.location_id, m.entry
  from internal.read_location_map(new.business_id, new.warehouse_location_map) m;
  return null;
end
$$;

comment on function internal.location_map_must_name_locations is
  'Refuses (400) a step whose location map does not name locations of its business, and keeps the entries of the map.';

create trigger location_map_must_name_locations
  after insert or update of warehouse_location_map on api.process_shipments_steps
  for each row execute function internal.location_map_must_name_locations();

create trigger location_map_must_name_locations
  after insert or update of warehouse_location_map on api.send_orders_steps
  for each row execute function internal.location_map_must_name_locations();
--! EndIncluded steps/location_map_must_name_locations.sql
--! Included steps/process_shipments_channels.sql
-- The channels that each process-shipments step takes orders of; none: of all. Kept by channel_ids_must_name_channels.
-- A channel that a step names is not deleted, since a step without channels takes the orders of all.
create table internal.process_shipments_channels (
  business_id uuid not null,
  process_shipments_step_id uuid not null,
  channel_id uuid not null,
  primary key (business_id, process_shipments_step_id, channel_id),
  foreign key (business_id, process_shipments_step_id) references api.process_shipments_steps (business_id, id)
    on delete cascade,
  foreign key (business_id, channel_id) references api.channels (business_id, id)
);

create index on internal.process_shipments_channels (business_id, channel_id);

comment on table internal.process_shipments_channels is 'Channels that process-shipments steps are limited to.';

alter table internal.process_shipments_channels replica identity using index process_shipments_channels_pkey;
alter table internal.process_shipments_channels enable row level security, force row level security;
create policy every_business on internal.process_shipments_channels to current_user using (true);
--! EndIncluded steps/process_shipments_channels.sql
--! Included steps/channel_ids_must_name_channels.sql
-- A process-shipments step is limited to channels of its business.
--   writes   internal.process_shipments_channels
--   refuses  (400) an id that is null or no channel of the business
create function internal.channel_ids_must_name_channels() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  unknown record;
begin
  select n - 1 as position, listed.id into unknown
  from unnest(new.channel_ids) with ordinality as listed (id, n)
  where not exists (select from api.channels c where c.business_id = new.business_id and c.id = listed.id)
  order by n limit 1;
  if found then
    perform internal.refuse(400, format('channel_ids[%s]: no channel "%s"', unknown.position, coalesce(unknown.id::text, 'null')));
  end if;

  delete from internal.process_shipments_channels p
  where p.business_id = new.business_id and p.process_shipments_step_id = new.id;

  insert into internal.process_shipments_channels (business_id, process_shipments_step_id, channel_id)
  select distinct new.business_id, new.id, listed.id
  from unnest(new.channel_ids) as listed (id);
  return null;
end
$$;

comment on function internal.channel_ids_must_name_channels is
  'Refuses (400) a process-shipments step that names a channel which its business does not have, and keeps the '
  'channels.';

create trigger channel_ids_must_name_channels
  after insert or update of channel_ids on api.process_shipments_steps
  for each row execute function internal.channel_ids_must_name_channels();
--! EndIncluded steps/channel_ids_must_name_channels.sql

-- fulfillment: what warehouses ship
--! Included fulfillment/fulfillments.sql
-- A warehouse's part in an order: the lines that one location ships.
create type api.fulfillment_status as enum ('NEW', 'PENDING', 'OPEN', 'SUCCESS', 'CANCELED', 'BACKORDER');
comment on type api.fulfillment_status is 'NEW: to be sent to the warehouse; PENDING: sent; OPEN: shipped; SUCCESS: done; CANCELED; BACKORDER: waits for stock.';

create table api.fulfillments (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  order_id uuid not null,
  supplier_id uuid,
  purchase_order_number text,
  location_id uuid,
  shipping_company text,
  shipping_method text,
  tracking_number text,
  tracking_urls text[],
  shipped_at timestamptz,
  status api.fulfillment_status not null default 'NEW',
  external_ids jsonb check (jsonb_typeof(external_ids) = 'object'),
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  creation_time timestamptz default now(),
  update_time timestamptz,
  unique (business_id, order_id, id),
  foreign key (business_id, order_id) references api.orders (business_id, id),
  foreign key (business_id, supplier_id) references api.process_shipments_steps (business_id, id),
  foreign key (business_id, location_id) references api.locations (business_id, id)
);

create index on api.fulfillments (business_id, location_id, status);
create index on api.fulfillments (business_id, supplier_id);
create index on api.fulfillments (business_id, (additional_fields ->> 'warehouse_order_id'));

comment on table api.fulfillments is
  'Lines of an order that one location ships. Its units are committed there until they ship.';
comment on column api.fulfillments.id is 'Primary key.';
comment on column api.fulfillments.business_id is 'Business that owns the record.';
comment on column api.fulfillments.order_id is 'Order that is fulfilled.';
comment on column api.fulfillments.supplier_id is 'Process-shipments step whose callback reports on it.';
comment on column api.fulfillments.purchase_order_number is 'Purchase order number that the warehouse knows.';
comment on column api.fulfillments.location_id is 'Warehouse location that ships.';
comment on column api.fulfillments.shipping_company is 'Carrier.';
comment on column api.fulfillments.shipping_method is 'Carrier''s service.';
comment on column api.fulfillments.tracking_number is 'Carrier''s tracking number.';
comment on column api.fulfillments.tracking_urls is 'Addresses at which the package can be tracked.';
comment on column api.fulfillments.shipped_at is 'When it shipped.';
comment on column api.fulfillments.status is 'NEW, PENDING, OPEN, SUCCESS, CANCELED or BACKORDER; never goes back (else 409).';
comment on column api.fulfillments.external_ids is 'Ids of this record in other systems, as a JSON object.';
comment on column api.fulfillments.additional_fields is 'Free-form fields, as a JSON object.';
comment on column api.fulfillments.creation_time is 'When the record was created.';
comment on column api.fulfillments.update_time is 'When the record was last changed.';

call internal.seal_tenant_table('api.fulfillments');
grant select, insert, update, delete on api.fulfillments to business, operator;
--! EndIncluded fulfillment/fulfillments.sql
--! Included fulfillment/fulfillment_line_items.sql
-- What a fulfillment ships.
create table api.fulfillment_line_items (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  fulfillment_id uuid not null,
  order_line_item_id uuid,
  inventory_item_id uuid not null,
  sku text,
  title text,
  quantity integer not null check (quantity > 0),
  grams numeric,
  price integer,
  shipping_price integer,
  shipping_tax integer,
  shipping_method text,
  vendor text,
  additional_fields jsonb check (jsonb_typeof(additional_fields) = 'object'),
  creation_time timestamptz default now(),
  update_time timestamptz,
  foreign key (business_id, fulfillment_id) references api.fulfillments (business_id, id) on delete cascade,
  foreign key (business_id, order_line_item_id) references api.order_line_items (business_id, id),
  foreign key (business_id, inventory_item_id) references api.inventory_items (business_id, id)
);

create index on api.fulfillment_line_items (business_id, fulfillment_id);
create index on api.fulfillment_line_items (business_id, order_line_item_id);
create index on api.fulfillment_line_items (business_id, inventory_item_id);

comment on table api.fulfillment_line_items is
  'A line of a fulfillment: units of one inventory item. Changes only while the fulfillment is NEW or PENDING (else 409).';
comment on column api.fulfillment_line_items.id is 'Primary key.';
comment on column api.fulfillment_line_items.business_id is 'Business that owns the record.';
comment on column api.fulfillment_line_items.fulfillment_id is 'Fulfillment that the line belongs to.';
comment on column api.fulfillment_line_items.order_line_item_id is 'Order line that it fulfills.';
comment on column api.fulfillment_line_items.inventory_item_id is 'Inventory item to ship.';
comment on column api.fulfillment_line_items.sku is 'SKU as the warehouse is told; that of the item unless given.';
comment on column api.fulfillment_line_items.title is 'Title as the warehouse is told; that of the item unless given.';
comment on column api.fulfillment_line_items.quantity is 'Units to ship, at least 1.';
comment on column api.fulfillment_line_items.grams is 'Weight in grams.';
comment on column api.fulfillment_line_items.price is 'Price of a unit, in minor units of the order''s currency.';
comment on column api.fulfillment_line_items.shipping_price is 'Price of shipping the line, in minor units.';
comment on column api.fulfillment_line_items.shipping_tax is 'Tax on shipping the line, in minor units.';
comment on column api.fulfillment_line_items.shipping_method is 'How the line is to be shipped.';
comment on column api.fulfillment_line_items.vendor is 'Vendor of the item.';
comment on column api.fulfillment_line_items.additional_fields is 'Free-form fields, as a JSON object.';
comment on column api.fulfillment_line_items.creation_time is 'When the record was created.';
comment on column api.fulfillment_line_items.update_time is 'When the record was last changed.';

call internal.seal_tenant_table('api.fulfillment_line_items');
grant select, insert, update, delete on api.fulfillment_line_items to business, operator;

create trigger lock_children_first before delete on api.fulfillments for each row
  execute function internal.lock_children_first('api.fulfillment_line_items', 'fulfillment_id');
--! EndIncluded fulfillment/fulfillment_line_items.sql
--! Included fulfillment/order_line_progress.sql
-- How much of each order line is being fulfilled: by all its fulfillments but CANCELED and BACKORDER ones.
-- That this never exceeds what was ordered is a constraint.
create table internal.order_line_progress (
  order_line_item_id uuid primary key,
  business_id uuid not null,
  ordered integer not null,
  fulfilled integer not null default 0,
  constraint fulfilled_never_exceeds_ordered check (fulfilled between 0 and ordered),
  foreign key (business_id, order_line_item_id) references api.order_line_items (business_id, id) on delete cascade
);

create unique index order_line_progress_business_id_key on internal.order_line_progress (business_id, order_line_item_id);
alter table internal.order_line_progress replica identity using index order_line_progress_business_id_key;

comment on table internal.order_line_progress is
  'Units ordered and being fulfilled per order line; a constraint keeps the second within the first.';

alter table internal.order_line_progress enable row level security, force row level security;
create policy own_business on internal.order_line_progress to business using (business_id = (select internal.business_id()));
create policy every_business on internal.order_line_progress to operator, current_user using (true);

grant select on internal.order_line_progress to business, operator;

create function internal.count_fulfilled(order_lines uuid[]) returns void
language plpgsql
security definer set search_path = ''
as $$
begin
  perform from internal.order_line_progress where order_line_item_id = any (order_lines)
  order by order_line_item_id for update;

  update internal.order_line_progress progress set fulfilled = counted.fulfilled
  from (
    select p.order_line_item_id,
      coalesce(sum(l.quantity) filter (where f.status not in ('CANCELED', 'BACKORDER')), 0) as fulfilled
    from internal.order_line_progress p
    left join api.fulfillment_line_items l
      on l.business_id = p.business_id and l.order_line_item_id = p.order_line_item_id
    left join api.fulfillments f on f.business_id = l.business_id and f.id = l.fulfillment_id
    where p.order_line_item_id = any (order_lines)
    group by 1
  ) counted
  where progress.order_line_item_id = counted.order_line_item_id and progress.fulfilled <> counted.fulfilled;
end
$$;

comment on function internal.count_fulfilled is
  'Counts anew what is being fulfilled of order lines; the constraint refuses more than was ordered.';

create function internal.order_lines_are_counted() returns trigger
language plpgsql
security definer set search_path = ''
as $$
begin
  -- orders first, then counts, commitments and quantities: the order that every writer keeps
  perform from api.orders o where o.id in (select order_id from new_lines) order by o.id for no key update;
  insert into internal.order_line_progress as progress (order_line_item_id, business_id, ordered)
  select id, business_id, quantity from new_lines order by id
  on conflict (order_line_item_id) do update set ordered = excluded.ordered where progress.ordered <> excluded.ordered;
  return null;
end
$$;

comment on function internal.order_lines_are_counted is 'Keeps what is ordered per order line beside what is being fulfilled of it.';

create trigger order_lines_are_counted_on_insert after insert on api.order_line_items
  referencing new table as new_lines
  for each statement execute function internal.order_lines_are_counted();
create trigger order_lines_are_counted_on_update after update on api.order_line_items
  referencing new table as new_lines
  for each statement execute function internal.order_lines_are_counted();
--! EndIncluded fulfillment/order_line_progress.sql
--! Included fulfillment/line_fulfills_an_order_line.sql
-- A fulfillment line fulfills a line of its order, of the same item. One that names none is given the line of its item
-- with most left to fulfill; where the order has no line of the item it is refused (409). sku and title are those of the
-- item unless given.
create function internal.line_fulfills_an_order_line() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  order_line record;
begin
  if new.inventory_item_id is null then
    return new;
  end if;
  select l.id, item.sku, item.title, l.price, l.grams into order_line
  from api.fulfillments f
  join api.order_line_items l on l.business_id = f.business_id and l.order_id = f.order_id
  join api.inventory_items item on item.business_id = l.business_id and item.id = l.inventory_item_id
  left join internal.order_line_progress progress on progress.order_line_item_id = l.id
  where f.business_id = new.business_id and f.id = new.fulfillment_id and l.inventory_item_id = new.inventory_item_id
    and (new.order_line_item_id is null or l.id = new.order_line_item_id)
  order by progress.ordered - progress.fulfilled desc nulls last, l.id
  limit 1;
  if not found then
    -- where the fulfillment or the item is another business's, the foreign keys say so
    if exists (select from api.fulfillments f where f.business_id = new.business_id and f.id = new.fulfillment_id) then
      perform internal.refuse(409, 'order_line_item_id: the order of the fulfillment has no such line of this item');
    end if;
    return new;
  end if;

  new.order_line_item_id := order_line.id;
  new.sku := coalesce(new.sku, order_line.sku);
  new.title := coalesce(new.title, order_line.title);
  new.price := coalesce(new.price, order_line.price);
  new.grams := coalesce(new.grams, order_line.grams);
  return new;
end
$$;

comment on function internal.line_fulfills_an_order_line is
  'Ties a fulfillment line to the line of its order; refuses (409) an item that the order does not have.';

create trigger line_fulfills_an_order_line
  before insert or update of fulfillment_id, order_line_item_id, inventory_item_id on api.fulfillment_line_items
  for each row execute function internal.line_fulfills_an_order_line();
--! EndIncluded fulfillment/line_fulfills_an_order_line.sql
--! Included fulfillment/order_line_in_fulfillment_keeps_its_item.sql
-- An order line that fulfillments refer to keeps its item and its order (409): they ship what it names.
create function internal.order_line_in_fulfillment_keeps_its_item() returns trigger
language plpgsql
security definer set search_path = ''
as $$
begin
  if exists (
    select from api.fulfillment_line_items l where l.business_id = old.business_id and l.order_line_item_id = old.id
  ) then
    perform internal.refuse(409, format('Order line %s is being fulfilled: its item and order cannot change', old.id));
  end if;
  return new;
end
$$;

comment on function internal.order_line_in_fulfillment_keeps_its_item is
  'Refuses (409) to change the item or order of an order line that fulfillments refer to.';

create trigger order_line_in_fulfillment_keeps_its_item before update on api.order_line_items for each row
  when ((old.inventory_item_id, old.order_id) is distinct from (new.inventory_item_id, new.order_id))
  execute function internal.order_line_in_fulfillment_keeps_its_item();
--! EndIncluded fulfillment/order_line_in_fulfillment_keeps_its_item.sql
--! Included fulfillment/fulfillment_status_moves_forward.sql
-- Fulfillment states move only so, by any path (else 409):
--   NEW → PENDING, OPEN, SUCCESS, CANCELED, BACKORDER    PENDING → OPEN, SUCCESS, CANCELED, BACKORDER
--   BACKORDER → NEW, CANCELED                            OPEN → SUCCESS
-- Its order never changes, its location only before it ships. What has shipped is not deleted.
create function internal.fulfillment_status_moves_forward() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if tg_op = 'DELETE' then
    perform internal.refuse(409, format('Fulfillment %s is %s: it cannot be deleted', old.id, old.status));
  elsif new.order_id <> old.order_id then
    perform internal.refuse(409, format('Fulfillment %s: its order cannot change', old.id));
  elsif new.location_id is distinct from old.location_id and old.status not in ('NEW', 'PENDING', 'BACKORDER') then
    perform internal.refuse(409, format('Fulfillment %s is %s: its location cannot change', old.id, old.status));
  elsif new.status <> old.status and (old.status, new.status) not in (
    ('NEW', 'PENDING'), ('NEW', 'OPEN'), ('NEW', 'SUCCESS'), ('NEW', 'CANCELED'), ('NEW', 'BACKORDER'),
    ('PENDING', 'OPEN'), ('PENDING', 'SUCCESS'), ('PENDING', 'CANCELED'), ('PENDING', 'BACKORDER'),
    ('BACKORDER', 'NEW'), ('BACKORDER', 'CANCELED'),
    ('OPEN', 'SUCCESS')
  ) then
    perform internal.refuse(409, format('Fulfillment %s is %s: it cannot become %s', old.id, old.status, new.status));
  end if;

  if new.status in ('OPEN', 'SUCCESS') and old.status not in ('OPEN', 'SUCCESS') then
    new.shipped_at := coalesce(new.shipped_at, now());
  end if;
  return new;
end
$$;

comment on function internal.fulfillment_status_moves_forward is
  'Refuses (409) fulfillment states that go back, a new order, a new location once shipped, and to delete what has shipped.';

create trigger fulfillment_status_moves_forward before update on api.fulfillments for each row
  when (
    old.status <> new.status or old.order_id <> new.order_id or old.location_id is distinct from new.location_id
  )
  execute function internal.fulfillment_status_moves_forward();
create trigger shipped_fulfillment_is_not_deleted before delete on api.fulfillments for each row
  when (old.status in ('OPEN', 'SUCCESS'))
  execute function internal.fulfillment_status_moves_forward();
--! EndIncluded fulfillment/fulfillment_status_moves_forward.sql
--! Included fulfillment/lines_change_before_shipping.sql
-- Lines of a fulfillment change only while it is NEW or PENDING (409). The lines it is created with, in one transaction,
-- and those that go with it may have any state. The fulfillment is locked, so that it does not ship meanwhile.
create function internal.refuse_lines_of_shipped_fulfillments(fulfillments uuid[]) returns void
language plpgsql
security definer set search_path = ''
as $$
declare
  shipped record;
begin
  perform from api.fulfillments f where f.id = any (fulfillments) order by f.id for no key update;
  select f.id, f.status into shipped
  from api.fulfillments f
  where f.id = any (fulfillments) and f.status not in ('NEW', 'PENDING') and f.xmin <> pg_current_xact_id()::xid
  limit 1;
  if found then
    perform internal.refuse(409, format('Fulfillment %s is %s: its lines cannot change', shipped.id, shipped.status));
  end if;
end
$$;

comment on function internal.refuse_lines_of_shipped_fulfillments is
  'Refuses (409) to change lines of fulfillments that are neither NEW nor PENDING.';
--! EndIncluded fulfillment/lines_change_before_shipping.sql
--! Included fulfillment/fulfillments_move_inventory.sql
-- What fulfillments do to inventory at their location, q being the units of a line (docs/fulfillment.md):
--   in NEW or PENDING                committed +q, and −q when it leaves these
--   first enters OPEN or SUCCESS     available_to_sell −q
-- When it ships through a step with a virtual location, what its order holds committed there ships there too:
--   available_to_sell −q, committed −q
create function internal.fulfillment_stage(status api.fulfillment_status) returns text
language sql immutable
set search_path = ''
as $$
  select case
    when status in ('NEW', 'PENDING') then 'committed'
    when status in ('OPEN', 'SUCCESS') then 'shipped'
    else 'released'
  end
$$;

comment on function internal.fulfillment_stage is 'What a fulfillment in a state does with its units: committed, shipped or released.';

create function internal.ships_virtually(lines uuid[]) returns internal.commitments[]
language plpgsql
security definer set search_path = ''
as $$
declare
  is_virtual boolean := exists (
    select from api.fulfillment_line_items l
    join api.fulfillments f on f.business_id = l.business_id and f.id = l.fulfillment_id
    join api.process_shipments_steps step on step.business_id = f.business_id and step.id = f.supplier_id
    where l.id = any (lines) and f.status in ('OPEN', 'SUCCESS') and step.virtual_location_id is not null
  );
begin
  if not is_virtual then
    return '{}';
  end if;
  perform from internal.commitments held
  where held.line_id in (select l.order_line_item_id from api.fulfillment_line_items l where l.id = any (lines))
  order by held.line_id
  for update;

  return array(
    select (
      held.line_id, held.business_id, held.location_id, held.inventory_item_id,
      held.committed - least(held.committed, sum(l.quantity)), held.shipped + least(held.committed, sum(l.quantity)),
      held.cause_type, held.cause_id
    )::internal.commitments
    from api.fulfillment_line_items l
    join api.fulfillments f on f.business_id = l.business_id and f.id = l.fulfillment_id
    join api.process_shipments_steps step on step.business_id = f.business_id and step.id = f.supplier_id
    join internal.commitments held on held.line_id = l.order_line_item_id and held.location_id = step.virtual_location_id
    left join internal.commitments own on own.line_id = l.id
    where l.id = any (lines) and f.status in ('OPEN', 'SUCCESS') and coalesce(own.shipped, 0) = 0 and held.committed > 0
    group by held.line_id
  );
end
$$;

comment on function internal.ships_virtually is
  'What orders hold at virtual locations once the units of shipped fulfillment lines are taken off it.';

create function internal.commit_fulfillment_lines(lines uuid[]) returns void
language plpgsql
security definer set search_path = ''
as $$
declare
  wanted internal.commitments[] := array(
    select (
      l.id, l.business_id, f.location_id, l.inventory_item_id,
      case when f.status in ('NEW', 'PENDING') then l.quantity else 0 end,
      case when f.status in ('OPEN', 'SUCCESS') then l.quantity else 0 end,
      'fulfillment', f.id
    )::internal.commitments
    from api.fulfillment_line_items l
    join api.fulfillments f on f.business_id = l.business_id and f.id = l.fulfillment_id
    where l.id = any (lines) and f.location_id is not null
  );
  held_by_orders internal.commitments[] := internal.ships_virtually(lines);
begin
  perform internal.keep_commitments(
    lines || array(select line_id from unnest(held_by_orders)), wanted || held_by_orders
  );
end
$$;

comment on function internal.commit_fulfillment_lines is
  'Brings what fulfillment lines hold committed and have shipped in line with the state of their fulfillments.';

create function internal.lines_move_inventory() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  lines uuid[];
  order_lines uuid[];
begin
  if tg_op = 'INSERT' then
    perform internal.refuse_lines_of_shipped_fulfillments(array(select distinct fulfillment_id from new_lines));
    lines := array(select id from new_lines);
    order_lines := array(select distinct order_line_item_id from new_lines where order_line_item_id is not null);
  elsif tg_op = 'DELETE' then
    perform internal.refuse_lines_of_shipped_fulfillments(array(select distinct fulfillment_id from old_lines));
    lines := array(select id from old_lines);
    order_lines := array(select distinct order_line_item_id from old_lines where order_line_item_id is not null);
  else
    select array_agg(after.id),
      array_agg(after.order_line_item_id) || array_agg(before.order_line_item_id)
    into lines, order_lines
    from old_lines before
    join new_lines after using (id)
    where (before.fulfillment_id, before.order_line_item_id, before.inventory_item_id, before.quantity)
      is distinct from (after.fulfillment_id, after.order_line_item_id, after.inventory_item_id, after.quantity);
    if lines is null then
      return null;
    end if;
    perform internal.refuse_lines_of_shipped_fulfillments(array(
      select fulfillment_id from old_lines where id = any (lines)
      union select fulfillment_id from new_lines where id = any (lines)
    ));
  end if;
  perform internal.count_fulfilled(order_lines);
  perform internal.commit_fulfillment_lines(lines);
  return null;
end
$$;

comment on function internal.lines_move_inventory is
  'Counts, commits, ships or releases the units of fulfillment lines that are added, changed or removed; refuses (409) those of shipped fulfillments.';

create trigger lines_move_inventory_on_insert after insert on api.fulfillment_line_items
  referencing new table as new_lines
  for each statement execute function internal.lines_move_inventory();
create trigger lines_move_inventory_on_update after update on api.fulfillment_line_items
  referencing old table as old_lines new table as new_lines
  for each statement execute function internal.lines_move_inventory();
create trigger lines_move_inventory_on_delete after delete on api.fulfillment_line_items
  referencing old table as old_lines
  for each statement execute function internal.lines_move_inventory();

create function internal.fulfillments_move_inventory() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  moved uuid[];
  recounted uuid[];
  lines uuid[];
begin
  select
    array_agg(after.id),
    array_agg(after.id) filter (where
      (before.status in ('CANCELED', 'BACKORDER')) <> (after.status in ('CANCELED', 'BACKORDER')))
  into moved, recounted
  from old_fulfillments before
  join new_fulfillments after using (id)
  where internal.fulfillment_stage(before.status) <> internal.fulfillment_stage(after.status)
    or before.location_id is distinct from after.location_id;
  if moved is null then
    return null;
  end if;

  if recounted is not null then
    perform internal.count_fulfilled(array(
      select distinct l.order_line_item_id
      from new_fulfillments f
      join api.fulfillment_line_items l on l.business_id = f.business_id and l.fulfillment_id = f.id
      where f.id = any (recounted) and l.order_line_item_id is not null
    ));
  end if;
  lines := array(
    select l.id
    from new_fulfillments f
    join api.fulfillment_line_items l on l.business_id = f.business_id and l.fulfillment_id = f.id
    where f.id = any (moved)
  );
  if lines <> '{}' then
    perform internal.commit_fulfillment_lines(lines);
  end if;
  return null;
end
$$;

comment on function internal.fulfillments_move_inventory is
  'Commits, ships or releases the units of fulfillments whose state or location changes.';

create trigger fulfillments_move_inventory after update on api.fulfillments
  referencing old table as old_fulfillments new table as new_fulfillments
  for each statement execute function internal.fulfillments_move_inventory();
--! EndIncluded fulfillment/fulfillments_move_inventory.sql
--! Included fulfillment/fulfillments_in_full.sql
-- Fulfillments with their lines, as calls return them.
create function internal.fulfillments_in_full(fulfillments uuid[])
returns table (id uuid, document jsonb)
language sql stable
set search_path = ''
as $$
  select f.id, to_jsonb(f) || jsonb_build_object('line_items', (
    select coalesce(jsonb_agg(to_jsonb(l) order by l.id), '[]')
    from api.fulfillment_line_items l
    where l.business_id = f.business_id and l.fulfillment_id = f.id
  ))
  from api.fulfillments f
  where f.id = any (fulfillments)
$$;

comment on function internal.fulfillments_in_full is 'Fulfillments as JSON objects with their lines.';

grant execute on function internal.fulfillments_in_full to business, operator;
--! EndIncluded fulfillment/fulfillments_in_full.sql
--! Included fulfillment/create_fulfillment.sql
-- Creates a NEW fulfillment of an order with its lines: one transaction, all or nothing. Lines name their order line, or
-- the inventory item by sku.
create function api.create_fulfillment(fulfillment jsonb default null) returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  "order" api.orders;
  new_id uuid;
  lines jsonb[];
  prefixes text[];
  rows jsonb[];
  problem text;
begin
  perform internal.check_input(
    '{""}', array[fulfillment], 'api.fulfillments', '{"line_items": "array"}', '{order_id, location_id, line_items}'
  );
  new_id := coalesce((fulfillment ->> 'id')::uuid, uuidv7());
  if coalesce(fulfillment ->> 'status', 'NEW') <> 'NEW' then
    perform internal.refuse_input('status: must be NEW');
  end if;
  lines := array(select value from jsonb_array_elements(fulfillment -> 'line_items'));
  prefixes := array(select format('line_items[%s].', n - 1) from generate_series(1, cardinality(lines)) n);
  perform internal.check_input(
    prefixes, lines, 'api.fulfillment_line_items', '{"quantity": "positive integer"}', '{quantity}'
  );

  select o.* into "order"
  from api.orders o
  where o.id = (fulfillment ->> 'order_id')::uuid
    and o.business_id = coalesce((fulfillment ->> 'business_id')::uuid, o.business_id);
  if not found then
    perform internal.refuse_input(format('order_id: no order "%s"', fulfillment ->> 'order_id'));
  elsif not exists (
    select from api.locations l where l.business_id = "order".business_id and l.id = (fulfillment ->> 'location_id')::uuid
  ) then
    perform internal.refuse_input(format('location_id: no location "%s"', fulfillment ->> 'location_id'));
  elsif lines = '{}' then
    perform internal.refuse_input('line_items: at least one line is required');
  end if;

  -- lines that name a SKU take what is left of the order's lines of it in turn, split where one does not hold it
  with given as (
    select l.position, l.prefix, l.line, (l.line ->> 'quantity')::bigint as quantity,
      (l.line ->> 'order_line_item_id')::uuid as order_line_id, l.item
    from unnest(lines, prefixes, internal.match_items("order".business_id, prefixes, lines))
      with ordinality as l (line, prefix, item, position)
  ),
  open_line as (
    select l.id, l.inventory_item_id, greatest(0, l.quantity - coalesce(progress.fulfilled, 0)
      - coalesce((select sum(g.quantity) from given g where g.order_line_id = l.id), 0)) as room
    from api.order_line_items l
    left join internal.order_line_progress progress on progress.order_line_item_id = l.id
    where l.business_id = "order".business_id and l.order_id = "order".id
  ),
  room as (
    select id, inventory_item_id, sum(room) over up_to_here - room as room_from, sum(room) over up_to_here as room_to
    from open_line
    window up_to_here as (partition by inventory_item_id order by room desc, id)
  ),
  wanted as (
    select g.*, sum(g.quantity) over up_to_here - g.quantity as wanted_from, sum(g.quantity) over up_to_here as wanted_to
    from given g
    where g.order_line_id is null
    window up_to_here as (partition by g.item order by g.quantity desc, g.position)
  ),
  piece as (
    select g.position, g.line, l.id as order_line_id, l.inventory_item_id, g.quantity
    from given g
    join open_line l on l.id = g.order_line_id
    union all
    select w.position, w.line, r.id, r.inventory_item_id, least(w.wanted_to, r.room_to) - greatest(w.wanted_from, r.room_from)
    from wanted w
    join room r on r.inventory_item_id = w.item and r.room_from < w.wanted_to and w.wanted_from < r.room_to
  )
  select
    array(
      select line || jsonb_build_object(
        'id', case when row_number() over (partition by position order by order_line_id) = 1
          then coalesce((line ->> 'id')::uuid, uuidv7()) else uuidv7() end,
        'business_id', "order".business_id, 'fulfillment_id', new_id, 'inventory_item_id', inventory_item_id,
        'order_line_item_id', order_line_id, 'quantity', quantity
      )
      from piece
      order by position, order_line_id
    ),
    (
      select g.prefix || case
        when g.order_line_id is not null and not exists (select from open_line l where l.id = g.order_line_id)
          then format('order_line_item_id: the order has no line "%s"', g.line ->> 'order_line_item_id')
        when g.order_line_id is null and g.item is null then 'sku: is required'
        when g.order_line_id is null and not exists (select from open_line l where l.inventory_item_id = g.item)
          then format('sku: the order has no line of "%s"', coalesce(g.line ->> 'sku', g.line ->> 'inventory_item_id'))
        else 'quantity: more than is left to fulfill'
      end
      from given g
      left join (select position, sum(quantity) as quantity from piece group by 1) taken using (position)
      where taken.quantity is distinct from g.quantity
      order by g.position
      limit 1
    )
  into rows, problem;
  if problem is not null then
    perform internal.refuse_input(problem);
  end if;

  perform internal.upsert_rows(
    'api.fulfillments',
    array[fulfillment - 'line_items' || jsonb_build_object('id', new_id, 'business_id', "order".business_id)],
    '{}', true
  );
  perform internal.upsert_rows('api.fulfillment_line_items', rows, '{}', true);
  return (select document from internal.fulfillments_in_full(array[new_id]));
end
$$;

comment on function api.create_fulfillment is
  'Creates a NEW fulfillment with its lines, all or nothing: {order_id, location_id, additional_fields, line_items: [{order_line_item_id or sku, quantity}]}. '
  'It is sent to the warehouse when its location is mapped by an enabled send-orders step. Answers the fulfillment in full. '
  '400 naming the field when the input is wrong, or when more than was ordered would be fulfilled.';

grant execute on function api.create_fulfillment to business, operator;
--! EndIncluded fulfillment/create_fulfillment.sql

-- sending: orders to warehouses
--! Included jobs/add_job.sql
-- Queues a job of the worker in the transaction of the change that calls for it. The only way that Lading's SQL meets
-- graphile-worker. A job with a key replaces one of the same key that waits.
create function internal.add_job(task text, payload jsonb, job_key text default null, run_at timestamptz default null) returns void
language plpgsql
security definer set search_path = ''
as $$
begin
  perform graphile_worker.add_job(task, payload::json, job_key => add_job.job_key, run_at => add_job.run_at);
end
$$;

comment on function internal.add_job is 'Queues a job of the worker: task name, payload with ids only, optional key (one waiting job per key) and time.';

create function internal.add_jobs(task text, payloads jsonb[], job_keys text[]) returns bigint
language plpgsql
security definer set search_path = ''
as $$
begin
  if payloads is null then
    return 0;
  end if;
  perform graphile_worker.add_jobs(array(
    select (task, payload::json, null, null, null, job_key, null, null)::graphile_worker.job_spec
    from unnest(payloads, job_keys) as j (payload, job_key)
  ));
  return cardinality(payloads);
end
$$;

comment on function internal.add_jobs is 'Queues many jobs of one task, each with a payload and a key; returns how many.';
--! EndIncluded jobs/add_job.sql
--! Included sending/send_order_claims.sql
-- Which fulfillments are being sent to their warehouse just now. A claim is committed before the request goes out; one that
-- outlives its lease belongs to a worker that died, and the next claim takes over with a higher token.
create table internal.send_order_claims (
  fulfillment_id uuid not null,
  business_id uuid not null,
  token bigint not null default 1,
  lease_expires_time timestamptz not null,
  primary key (business_id, fulfillment_id),
  foreign key (business_id, fulfillment_id) references api.fulfillments (business_id, id) on delete cascade
);

comment on table internal.send_order_claims is 'Fulfillments that a worker is sending to their warehouse, each with the token of its latest claim.';

alter table internal.send_order_claims replica identity using index send_order_claims_pkey;
alter table internal.send_order_claims enable row level security, force row level security;
create policy every_business on internal.send_order_claims to current_user using (true);
--! EndIncluded sending/send_order_claims.sql
--! Included sending/sending_steps.sql
-- Which enabled send-orders step sends the fulfillments of each location, with its entry of the location map.
-- Where several map a location, the oldest does.
create view internal.sending_steps with (security_invoker = true) as
select distinct on (w.business_id, w.location_id)
  w.business_id, w.location_id, s.id as step_id, s.payload_url, s.auth_query_field, w.entry
from internal.warehouse_locations w
join api.send_orders_steps s on s.business_id = w.business_id and s.id = w.send_orders_step_id
where s.is_enabled
order by w.business_id, w.location_id, s.id;

comment on view internal.sending_steps is 'The enabled send-orders step of each mapped location, with the entry of its location map.';
--! EndIncluded sending/sending_steps.sql
--! Included sending/new_fulfillments_are_sent.sql
-- A fulfillment with lines that becomes NEW at a mapped location of an enabled step is queued for sending, in the
-- transaction in which it does. The worker's sweep finds what was missed: locations mapped or steps enabled later.
create function internal.queue_sending(fulfillments uuid[]) returns bigint
language sql
security definer set search_path = ''
as $$
  with due as (
    select f.id
    from api.fulfillments f
    join internal.sending_steps step on step.business_id = f.business_id and step.location_id = f.location_id
    where f.id = any (fulfillments) and f.status = 'NEW'
      and exists (
        select from api.fulfillment_line_items l where l.business_id = f.business_id and l.fulfillment_id = f.id
      )
  )
  select internal.add_jobs(
    'send_order',
    array_agg(jsonb_build_object('fulfillment_id', id) order by id),
    array_agg('send_order ' || id order by id)
  )
  from due
$$;

comment on function internal.queue_sending is
  'Queues those of the fulfillments for sending that are NEW, have lines and a mapped location; returns how many.';

create function internal.new_fulfillments_are_sent() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  fulfillments uuid[];
begin
  if tg_table_name = 'fulfillment_line_items' then
    fulfillments := array(select distinct fulfillment_id from new_lines);
  else
    fulfillments := array(
      select after.id
      from new_fulfillments after
      join old_fulfillments before using (id)
      where after.status = 'NEW' and (before.status, before.location_id) is distinct from (after.status, after.location_id)
    );
  end if;
  if fulfillments <> '{}' then
    perform internal.queue_sending(fulfillments);
  end if;
  return null;
end
$$;

comment on function internal.new_fulfillments_are_sent is 'Queues fulfillments for sending when they become NEW with lines at a mapped location.';

create trigger new_fulfillments_are_sent after insert on api.fulfillment_line_items
  referencing new table as new_lines
  for each statement execute function internal.new_fulfillments_are_sent();
create trigger new_fulfillments_are_sent after update on api.fulfillments
  referencing old table as old_fulfillments new table as new_fulfillments
  for each statement execute function internal.new_fulfillments_are_sent();

create function internal.queue_missed_fulfillments() returns bigint
language sql
set search_path = ''
as $$
  select internal.queue_sending(array(
    select f.id
    from api.fulfillments f
    join internal.sending_steps step on step.business_id = f.business_id and step.location_id = f.location_id
    left join internal.send_order_claims claim on claim.business_id = f.business_id and claim.fulfillment_id = f.id
    where f.status = 'NEW' and (claim.lease_expires_time is null or claim.lease_expires_time < now())
    order by f.id
    limit 10000
  ))
$$;

comment on function internal.queue_missed_fulfillments is
  'The sweep: queues NEW fulfillments at mapped locations that no worker is sending; returns how many.';
--! EndIncluded sending/new_fulfillments_are_sent.sql
--! Included sending/send_order_payloads.sql
-- What a warehouse is told of a fulfillment (docs/fulfillment.md). additionalFields is an object of texts for the order and its
-- lines, an array of {name, value} for customer and addresses; price (minor units) and grams of lines are text.
create function internal.texts(fields jsonb) returns jsonb
language sql immutable
set search_path = ''
as $$
  select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each_text(fields)
$$;

comment on function internal.texts is 'A JSON object with its values as text.';

create function internal.name_value_list(fields jsonb) returns jsonb
language sql immutable
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object('name', key, 'value', value) order by key), '[]') from jsonb_each_text(fields)
$$;

comment on function internal.name_value_list is 'A JSON object as an array of {name, value}, values as text.';

create function internal.address_payload(address api.addresses) returns jsonb
language sql immutable
set search_path = ''
as $$
  select jsonb_build_object(
    'additionalFields', internal.name_value_list(address.additional_fields),
    'address1', address.address_1, 'city', address.city, 'country', address.country, 'countryCode', address.country_code,
    'firstName', address.first_name, 'lastName', address.last_name, 'name', address.name, 'phone', address.phone,
    'postalCode', address.postal_code, 'province', address.province, 'provinceCode', address.province_code
  )
$$;

comment on function internal.address_payload is 'An address as warehouses are told it.';

create function internal.send_order_payloads(fulfillments uuid[]) returns table (fulfillment_id uuid, payload jsonb)
language sql stable
set search_path = ''
as $$
  select f.id, jsonb_build_object(
    'additionalFields', internal.texts(coalesce(o.additional_fields, '{}') || coalesce(f.additional_fields, '{}')),
    'customer', jsonb_build_object(
      'additionalFields', internal.name_value_list(customer.additional_fields),
      'billingAddress', internal.address_payload(billing),
      'shippingAddress', internal.address_payload(shipping),
      'email', customer.email, 'firstName', customer.first_name, 'lastName', customer.last_name
    ),
    'lineItems', (
      select jsonb_agg(jsonb_build_object(
        'additionalFields', internal.texts(l.additional_fields), 'id', l.id, 'price', l.price::text,
        'quantity', l.quantity, 'sku', l.sku, 'grams', l.grams::text, 'title', l.title
      ) order by l.id)
      from api.fulfillment_line_items l
      where l.business_id = f.business_id and l.fulfillment_id = f.id
    ),
    'locationId', step.entry ->> 'locationId',
    'purchasedAt', to_jsonb(coalesce(o.purchased_time, o.creation_time)),
    'purchaseOrderNumber', coalesce(f.purchase_order_number, o.purchase_order_number),
    'shippingCompany', f.shipping_company,
    'shippingMethod', f.shipping_method,
    'status', f.status,
    'warehouseOrderId', f.additional_fields ->> 'warehouse_order_id',
    'warehouseCode', step.entry ->> 'warehouse',
    'warehouseCompany', step.entry ->> 'company',
    'warehouseName', step.entry ->> 'name',
    'warehouseId', step.entry ->> 'id',
    'warehouseZipcode', step.entry ->> 'zipCode',
    'channelOrderId', o.channel_order_id,
    'channelId', o.channel_id,
    'orderId', o.id
  )
  from api.fulfillments f
  join api.orders o on o.business_id = f.business_id and o.id = f.order_id
  join internal.sending_steps step on step.business_id = f.business_id and step.location_id = f.location_id
  left join api.customers customer on customer.business_id = o.business_id and customer.id = o.customer_id
  left join api.addresses billing
    on billing.business_id = o.business_id and billing.id = coalesce(o.billing_address_id, customer.billing_address_id)
  left join api.addresses shipping
    on shipping.business_id = o.business_id and shipping.id = coalesce(o.address_to_id, customer.shipping_address_id)
  where f.id = any (fulfillments)
$$;

comment on function internal.send_order_payloads is 'The body that a warehouse is sent for each fulfillment.';
--! EndIncluded sending/send_order_payloads.sql
--! Included sending/claim_fulfillments.sql
-- First step of sending: claims fulfillments and returns the request to make for each, {token, url, auth_query_field,
-- auth_query_value, payload}. None for what there is nothing to send of: it is gone, not NEW any more, without lines, its
-- location not mapped, another worker sends it, or it is being changed just now (the sweep takes that up).
-- The authentication pair goes with payload_url only, not with a webhookUrl. A fulfillment without warehouse_order_id is
-- given its own id as one, so that the warehouse can answer by it.
create function internal.claim_fulfillments(fulfillments uuid[], lease interval default '60 s')
returns table (fulfillment_id uuid, claim jsonb)
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  locked uuid[] := array(
    select f.id from api.fulfillments f
    where f.id = any (fulfillments) and f.status = 'NEW'
    order by f.id
    for no key update skip locked
  );
  claimed uuid[];
begin
  with taken as (
    insert into internal.send_order_claims as claim (fulfillment_id, business_id, lease_expires_time)
    select f.id, f.business_id, now() + lease
    from api.fulfillments f
    join internal.sending_steps step on step.business_id = f.business_id and step.location_id = f.location_id
    where f.id = any (locked) and exists (
      select from api.fulfillment_line_items l where l.business_id = f.business_id and l.fulfillment_id = f.id
    )
    order by f.id
    on conflict on constraint send_order_claims_pkey do update set
      token = claim.token + 1, lease_expires_time = excluded.lease_expires_time
    where claim.lease_expires_time < now()
    returning fulfillment_id
  )
  select array_agg(taken.fulfillment_id) into claimed from taken;

  update api.fulfillments f
  set additional_fields = coalesce(f.additional_fields, '{}') || jsonb_build_object('warehouse_order_id', f.id)
  where f.id = any (claimed) and f.additional_fields ->> 'warehouse_order_id' is null;

  return query
  select f.id, jsonb_build_object(
    'token', c.token,
    'url', coalesce(step.entry ->> 'webhookUrl', step.payload_url),
    'auth_query_field', case when step.entry ->> 'webhookUrl' is null then step.auth_query_field end,
    'auth_query_value', case when step.entry ->> 'webhookUrl' is null then secret.auth_query_value end,
    'payload', p.payload
  )
  from api.fulfillments f
  join internal.send_order_claims c on c.business_id = f.business_id and c.fulfillment_id = f.id
  join internal.sending_steps step on step.business_id = f.business_id and step.location_id = f.location_id
  join internal.send_order_payloads(claimed) p on p.fulfillment_id = f.id
  left join internal.send_orders_secrets secret
    on secret.business_id = step.business_id and secret.send_orders_step_id = step.step_id
  where f.id = any (claimed);
end
$$;

comment on function internal.claim_fulfillments is
  'Claims NEW fulfillments for sending and returns the request to make for each; none for those that there is nothing to send of.';
--! EndIncluded sending/claim_fulfillments.sql
--! Included sending/record_sendings.sql
-- Last step of sending, with what came of each request, [{id, token, status, network_error, answer}] (docs/fulfillment.md): an
-- answer of 200–399 moves the fulfillment to PENDING; anything else removes it, which releases its commitment, and leaves
-- the activity 3PL Failure with the network error, the status and the response body. A token that was superseded, or a
-- fulfillment that is not NEW any more, changes nothing. Returns how many were recorded.
create function internal.record_sendings(outcomes jsonb) returns bigint
language plpgsql
set search_path = ''
as $$
declare
  recorded uuid[];
  failed uuid[];
begin
  perform from api.fulfillments f
  where f.id in (select (o ->> 'id')::uuid from jsonb_array_elements(outcomes) o)
  order by f.id
  for no key update;

  with outcome as (
    select (o ->> 'id')::uuid as id, (o ->> 'token')::bigint as token, (o ->> 'status')::integer as http_status
    from jsonb_array_elements(outcomes) o
  ),
  ended as (
    delete from internal.send_order_claims claim
    using outcome
    join api.fulfillments f on f.id = outcome.id
    where claim.business_id = f.business_id and claim.fulfillment_id = f.id and claim.token = outcome.token
      and f.status = 'NEW'
    returning f.id, outcome.http_status
  )
  select array_agg(id), array_agg(id) filter (where http_status is null or http_status not between 200 and 399)
  into recorded, failed
  from ended;

  update api.fulfillments f set status = 'PENDING'
  where f.id = any (recorded) and (failed is null or f.id <> all (failed));

  if failed is not null then
    with removed as (
      delete from api.fulfillments f where f.id = any (failed) returning f.*
    )
    insert into api.order_activities (business_id, order_id, fulfillment_id, title, description, operation, result)
    select
      removed.business_id, removed.order_id, removed.id, '3PL Failure',
      concat_ws(E'\n',
        'Network error: ' || (o ->> 'network_error'),
        'HTTP status: ' || (o ->> 'status'),
        'Response: ' || nullif(o ->> 'answer', '')),
      'send_order', 'ERROR'
    from removed
    join jsonb_array_elements(outcomes) o on o ->> 'id' = removed.id::text;
  end if;
  return coalesce(cardinality(recorded), 0);
end
$$;

comment on function internal.record_sendings is
  'Records what came of sending fulfillments: PENDING for 200–399, else removed with the activity 3PL Failure. Returns how many were recorded.';
--! EndIncluded sending/record_sendings.sql
--! Included sending/canceled_fulfillments_are_told.sql
-- A PENDING fulfillment that is canceled other than by its warehouse is made known there: {warehouseOrderId, fulfillmentId,
-- reason} is posted to the cancelEndpoint of its location's map entry, retried, and the outcome written as an activity.
create function internal.canceled_fulfillments_are_told() returns trigger
language plpgsql
security definer set search_path = ''
as $$
begin
  if coalesce(current_setting('lading.warehouse_knows', true), '') <> 'true' then
    perform internal.add_job('cancel_order', jsonb_build_object('fulfillment_id', after.id))
    from new_fulfillments after
    join old_fulfillments before using (id)
    join internal.sending_steps step on step.business_id = after.business_id and step.location_id = after.location_id
    where before.status = 'PENDING' and after.status = 'CANCELED' and step.entry ->> 'cancelEndpoint' is not null;
  end if;
  return null;
end
$$;

comment on function internal.canceled_fulfillments_are_told is 'Queues that a warehouse is told of the fulfillments that were canceled here.';

create trigger canceled_fulfillments_are_told after update on api.fulfillments
  referencing old table as old_fulfillments new table as new_fulfillments
  for each statement execute function internal.canceled_fulfillments_are_told();

create function internal.cancellation_request(fulfillment_id uuid) returns jsonb
language sql stable
set search_path = ''
as $$
  select jsonb_build_object(
    'url', step.entry ->> 'cancelEndpoint',
    'payload', jsonb_build_object(
      'warehouseOrderId', coalesce(f.additional_fields ->> 'warehouse_order_id', f.id::text),
      'fulfillmentId', f.id,
      'reason', coalesce(o.canceled_reason, 'Fulfillment canceled')
    )
  )
  from api.fulfillments f
  join api.orders o on o.business_id = f.business_id and o.id = f.order_id
  join internal.sending_steps step on step.business_id = f.business_id and step.location_id = f.location_id
  where f.id = cancellation_request.fulfillment_id and f.status = 'CANCELED' and step.entry ->> 'cancelEndpoint' is not null
$$;

comment on function internal.cancellation_request is
  'The request that tells a warehouse of a canceled fulfillment, {url, payload}; null when there is nothing to tell.';

create function internal.record_cancellation(fulfillment_id uuid, accepted boolean, description text) returns void
language sql
set search_path = ''
as $$
  insert into api.order_activities (business_id, order_id, fulfillment_id, title, description, operation, result)
  select f.business_id, f.order_id, f.id,
    case when accepted then 'Cancellation Sent' else 'Cancellation Failed' end, description, 'cancel_order',
    case when accepted then 'SUCCESS' else 'ERROR' end::api.activity_result
  from api.fulfillments f
  where f.id = record_cancellation.fulfillment_id
$$;

comment on function internal.record_cancellation is 'Writes as an activity what came of telling a warehouse of a cancellation.';
--! EndIncluded sending/canceled_fulfillments_are_told.sql

-- the callback of warehouses
--! Included fulfillment/callback/callback_messages.sql
-- Which messages of warehouses have been applied: by Idempotency-Key, else by content. Written in the transaction of the
-- change and kept for ever, so that a repetition changes nothing.
create table internal.callback_messages (
  business_id uuid not null references api.businesses on delete cascade,
  message_hash bytea not null,
  creation_time timestamptz not null default now(),
  primary key (business_id, message_hash)
);

comment on table internal.callback_messages is 'Messages of warehouses that have been applied, by the SHA-256 of their key or content.';

alter table internal.callback_messages enable row level security, force row level security;
create policy every_business on internal.callback_messages to current_user using (true);

create function internal.record_message(business_id uuid, message jsonb) returns bytea
language sql
set search_path = ''
as $$
  insert into internal.callback_messages (business_id, message_hash)
  values (record_message.business_id, sha256(convert_to(message::text, 'UTF8')))
  on conflict do nothing
  returning message_hash
$$;

comment on function internal.record_message is
  'Records a message of a warehouse and returns its hash; null when it was recorded before. Waits for another transaction that records it now.';
--! EndIncluded fulfillment/callback/callback_messages.sql
--! Included fulfillment/callback/lock_stock_of_order.sql
-- A message that changes stock in several steps locks all that these will lock in the one order that every writer keeps —
-- counts, commitments, quantities — before the first of them.
create function internal.lock_stock_of_order(step api.process_shipments_steps, order_id uuid) returns void
language plpgsql
set search_path = ''
as $$
declare
  order_lines uuid[] := array(
    select l.id from api.order_line_items l
    where l.business_id = step.business_id and l.order_id = lock_stock_of_order.order_id
  );
begin
  perform from internal.order_line_progress where order_line_item_id = any (order_lines)
  order by order_line_item_id for update;
  perform from internal.commitments where line_id = any (order_lines) order by line_id for update;
  perform internal.lock_levels(array(
    select distinct (
      f.business_id, place, l.inventory_item_id, null, null, null, null, null, null, null
    )::internal.ledger_entry
    from api.fulfillments f
    join api.fulfillment_line_items l on l.business_id = f.business_id and l.fulfillment_id = f.id
    cross join unnest(array[f.location_id, step.virtual_location_id]) place
    where f.business_id = step.business_id and f.order_id = lock_stock_of_order.order_id and place is not null
  ));
end
$$;

comment on function internal.lock_stock_of_order is
  'Locks the counts, commitments and quantities of an order before a message changes them in several steps.';
--! EndIncluded fulfillment/callback/lock_stock_of_order.sql
--! Included fulfillment/callback/merge_json.sql
-- What is stored, with what a warehouse sent laid over it: objects by key, all the way down; anything else is replaced.
create function internal.merge_json(stored jsonb, given jsonb) returns jsonb
language sql immutable
set search_path = ''
as $$
  select case
    when jsonb_typeof(stored) = 'object' and jsonb_typeof(given) = 'object' then (
      select coalesce(jsonb_object_agg(
        key,
        case
          when s.value is null then g.value
          when g.value is null then s.value
          else internal.merge_json(s.value, g.value)
        end
      ), '{}')
      from jsonb_each(stored) s
      full join jsonb_each(given) g using (key)
    )
    else coalesce(given, stored)
  end
$$;

comment on function internal.merge_json is 'Lays a JSON value over a stored one: objects are merged by key, all the way down.';

-- additionalFields on the wire is an array of {name, value}; stored, it is an object. A name given twice keeps its last value.
create function internal.named_values(fields jsonb) returns jsonb
language sql immutable
set search_path = ''
as $$
  select coalesce(jsonb_object_agg(field ->> 'name', field -> 'value' order by position), '{}')
  from jsonb_array_elements(case when jsonb_typeof(fields) = 'array' then fields else '[]' end)
    with ordinality as f (field, position)
$$;

comment on function internal.named_values is 'An array of {name, value} as an object.';
--! EndIncluded fulfillment/callback/merge_json.sql
--! Included fulfillment/callback/message_content.sql
-- What makes a message the same as an earlier one when it carries no Idempotency-Key: order, location, state, tracking,
-- shippedAt as sent, lines, and the fulfillment's id and warehouse_order_id where given.
create function internal.message_content(order_id uuid, location_id uuid, posted jsonb) returns jsonb
language sql immutable
set search_path = ''
as $$
  select jsonb_build_array(
    order_id, location_id, posted -> 'id', posted -> 'status', posted -> 'trackingNumber', posted -> 'trackingUrls',
    posted -> 'shippedAt', internal.named_values(posted -> 'additionalFields') -> 'warehouse_order_id',
    (
      select jsonb_agg(jsonb_build_array(name, quantity) order by name)
      from (
        select coalesce(line ->> 'id', line ->> 'sku') as name, sum((line ->> 'quantity')::numeric)::bigint as quantity
        from jsonb_array_elements(posted -> 'lineItems') line
        group by 1
      ) lines
    )
  )
$$;

comment on function internal.message_content is 'What of a posted fulfillment makes it the same message as another.';

-- Under partialShipments two parts of the same units are two parts, unless the message says which part it speaks of.
create function internal.content_tells_messages_apart(posted jsonb, partial_shipments boolean) returns boolean
language sql immutable
set search_path = ''
as $$
  select not partial_shipments
    or coalesce(posted ->> 'id', posted ->> 'trackingNumber', posted ->> 'shippedAt') is not null
$$;

comment on function internal.content_tells_messages_apart is
  'Whether a posted fulfillment with the content of an earlier one is a repetition of it.';
--! EndIncluded fulfillment/callback/message_content.sql
--! Included fulfillment/callback/find_callback_order.sql
-- The order that a callback is about: every identifier given — id, channelOrderId, purchaseOrderNumber, the warehouse_order_id
-- of fulfillments — must agree on one order of the step's channels (400). A warehouse_order_id that no order has yet is new
-- and identifies nothing. The order is locked: callbacks about it are applied one after the other.
create function internal.find_callback_order(step api.process_shipments_steps, order_update jsonb) returns uuid
language plpgsql
set search_path = ''
as $$
declare
  warehouse_order_ids text[] := array(
    select distinct field ->> 'value'
    from jsonb_array_elements(order_update -> 'fulfillments') fulfillment
    cross join lateral jsonb_array_elements(
      case when jsonb_typeof(fulfillment -> 'additionalFields') = 'array' then fulfillment -> 'additionalFields' else '[]' end
    ) field
    where field ->> 'name' = 'warehouse_order_id'
  );
  given_id constant uuid :=
    case when pg_input_is_valid(order_update ->> 'id', 'uuid') then (order_update ->> 'id')::uuid end;
  given_channel_order_id constant text := order_update ->> 'channelOrderId';
  given_purchase_order_number constant text := order_update ->> 'purchaseOrderNumber';
  given text;
  candidates uuid[] := '{}';
  found_orders uuid[];
begin
  if given_id is not null then
    candidates := array(select o.id from api.orders o where o.business_id = step.business_id and o.id = given_id);
  end if;
  if given_channel_order_id is not null then
    candidates := candidates || array(
      select o.id from api.orders o where o.business_id = step.business_id and o.channel_order_id = given_channel_order_id
    );
  end if;
  if given_purchase_order_number is not null then
    candidates := candidates || array(
      select o.id from api.orders o
      where o.business_id = step.business_id and o.purchase_order_number = given_purchase_order_number
    );
  end if;
  if warehouse_order_ids <> '{}' then
    candidates := candidates || array(
      select distinct f.order_id from api.fulfillments f
      where f.business_id = step.business_id and f.additional_fields ->> 'warehouse_order_id' = any (warehouse_order_ids)
    );
  end if;
  candidates := array(
    select o.id
    from api.orders o
    where o.id = any (candidates)
      and (coalesce(step.channel_ids, '{}') = '{}' or o.channel_id = any (step.channel_ids))
  );

  found_orders := array(
    select o.id
    from api.orders o
    where o.id = any (candidates)
      and (order_update ->> 'id' is null or o.id = given_id)
      and (given_channel_order_id is null or o.channel_order_id = given_channel_order_id)
      and (given_purchase_order_number is null or o.purchase_order_number = given_purchase_order_number)
  );
  if warehouse_order_ids <> '{}' and cardinality(candidates) > 1 then
    -- an order agrees when no other has a warehouse_order_id that it has not
    found_orders := array(
      select o.id
      from unnest(found_orders) as o (id)
      where not exists (
        select f.additional_fields ->> 'warehouse_order_id'
        from api.fulfillments f
        where f.business_id = step.business_id and f.order_id = any (candidates) and f.order_id <> o.id
          and f.additional_fields ->> 'warehouse_order_id' = any (warehouse_order_ids)
        except
        select f.additional_fields ->> 'warehouse_order_id'
        from api.fulfillments f
        where f.business_id = step.business_id and f.order_id = o.id
      )
    );
  end if;

  if cardinality(found_orders) = 1 then
    perform from api.orders o where o.id = found_orders[1] for no key update;
    return found_orders[1];
  end if;
  given := concat_ws(
    ', ',
    'id "' || (order_update ->> 'id') || '"',
    'channelOrderId "' || (order_update ->> 'channelOrderId') || '"',
    'purchaseOrderNumber "' || (order_update ->> 'purchaseOrderNumber') || '"',
    'warehouse_order_id ' || nullif((select string_agg(format('"%s"', id), ', ') from unnest(warehouse_order_ids) id), '')
  );
  perform internal.refuse(400, case
    when given = '' then 'orderUpdate: id, channelOrderId, purchaseOrderNumber or the warehouse_order_id of a fulfillment is required'
    when found_orders = '{}' then 'orderUpdate: no order has ' || given
    else 'orderUpdate: several orders have ' || given
  end);
end
$$;

comment on function internal.find_callback_order is
  'Finds and locks the one order of a step''s channels that all identifiers of a callback agree on. Refuses (400) none and several.';
--! EndIncluded fulfillment/callback/find_callback_order.sql
--! Included fulfillment/callback/find_callback_fulfillment.sql
-- The fulfillment that a posted one is about: by its id if that is ours, else by warehouse_order_id, else by location and
-- covering lines; NEW and PENDING ones at the location before shipped ones. Refuses (400) none and several.
create function internal.find_callback_fulfillment(
  business_id uuid,
  order_id uuid,
  location_id uuid,
  posted jsonb,
  path text
) returns api.fulfillments
language plpgsql
set search_path = ''
as $$
declare
  warehouse_order_id text := internal.named_values(posted -> 'additionalFields') ->> 'warehouse_order_id';
  posted_id constant uuid :=
    case when pg_input_is_valid(posted ->> 'id', 'uuid') then (posted ->> 'id')::uuid end;
  candidates uuid[] := '{}';
  fulfillment api.fulfillments;
begin
  if exists (
    select from api.fulfillments f
    where f.business_id = find_callback_fulfillment.business_id and f.id = posted_id
      and (f.order_id, f.location_id)
        is distinct from (find_callback_fulfillment.order_id, find_callback_fulfillment.location_id)
  ) then
    perform internal.refuse(400, format('%sid: fulfillment "%s" is of another order or location', path, posted_id));
  end if;

  if posted_id is not null then
    candidates := array(
      select f.id from api.fulfillments f where f.business_id = find_callback_fulfillment.business_id and f.id = posted_id
    );
  end if;
  if candidates = '{}' and warehouse_order_id is not null then
    with named as (
      select f.id, f.status in ('NEW', 'PENDING') as is_pending
      from api.fulfillments f
      where f.business_id = find_callback_fulfillment.business_id
        and f.additional_fields ->> 'warehouse_order_id' = warehouse_order_id
        and f.order_id = find_callback_fulfillment.order_id and f.location_id = find_callback_fulfillment.location_id
        and f.status in ('NEW', 'PENDING', 'OPEN', 'SUCCESS')
    )
    select coalesce(array_agg(id) filter (where is_pending), array_agg(id), '{}') into candidates from named;
  end if;
  if candidates = '{}' then
    with at_location as (
      select f.id, f.status in ('NEW', 'PENDING') as is_pending
      from api.fulfillments f
      where f.business_id = find_callback_fulfillment.business_id
        and f.order_id = find_callback_fulfillment.order_id and f.location_id = find_callback_fulfillment.location_id
        and f.status in ('NEW', 'PENDING', 'OPEN', 'SUCCESS')
    )
    select coalesce(array_agg(id) filter (where is_pending), array_agg(id), '{}') into candidates from at_location;
  end if;

  if cardinality(candidates) > 1 then
    candidates := array(
      select candidate.id
      from unnest(candidates) as candidate (id)
      where not exists (
        select from (
          select coalesce(line ->> 'id', line ->> 'sku') as name, sum((line ->> 'quantity')::numeric) as quantity
          from jsonb_array_elements(posted -> 'lineItems') line
          group by 1
        ) wanted
        where wanted.quantity > (
          select coalesce(sum(l.quantity), 0)
          from api.fulfillment_line_items l
          where l.business_id = find_callback_fulfillment.business_id and l.fulfillment_id = candidate.id
            and (wanted.name = l.sku or lower(wanted.name) in (l.id::text, l.order_line_item_id::text))
        )
      )
    );
  end if;
  if candidates = '{}' then
    perform internal.refuse(400, format('%slocationId: the order has no fulfillment at location "%s" to which this applies', path, posted ->> 'locationId'));
  elsif cardinality(candidates) > 1 then
    perform internal.refuse(400, format('%slocationId: several fulfillments of the order at location "%s" fit: name one by id or warehouse_order_id', path, posted ->> 'locationId'));
  end if;

  -- lines before their fulfillment, as a change of a line locks them
  perform from api.fulfillment_line_items l
  where l.business_id = find_callback_fulfillment.business_id and l.fulfillment_id = candidates[1]
  order by l.id for update;
  select f.* into fulfillment from api.fulfillments f where f.id = candidates[1] for no key update;
  return fulfillment;
end
$$;

comment on function internal.find_callback_fulfillment is
  'Finds and locks the fulfillment of an order that a posted one is about. Refuses (400) none and several.';
--! EndIncluded fulfillment/callback/find_callback_fulfillment.sql
--! Included fulfillment/callback/match_callback_lines.sql
-- How many units of each line of a fulfillment a message speaks of. Posted lines name a line by id (ours, or the order
-- line's), else by sku; those of one SKU are summed and given to the fulfillment's lines of it in turn.
-- Refuses (400) what the fulfillment does not have, and more than it has.
create type internal.callback_line as (
  line_id uuid,
  quantity integer,
  taken integer,
  posted jsonb
);

comment on type internal.callback_line is
  'A line of a fulfillment: its units, those that a message takes, and what the message says of it.';

create function internal.match_callback_lines(fulfillment api.fulfillments, posted_lines jsonb, path text)
returns internal.callback_line[]
language plpgsql stable
set search_path = ''
as $$
declare
  lines internal.callback_line[];
  problem text;
begin
  with line as (
    select l.id, l.sku, l.order_line_item_id, l.quantity
    from api.fulfillment_line_items l
    where l.business_id = fulfillment.business_id and l.fulfillment_id = fulfillment.id
  ),
  given as (
    select p.position, p.posted, (p.posted ->> 'quantity')::numeric::bigint as quantity, p.posted ->> 'sku' as sku, named.id as line_id
    from jsonb_array_elements(posted_lines) with ordinality as p (posted, position)
    left join lateral (
      select line.id from line
      where lower(p.posted ->> 'id') in (line.id::text, line.order_line_item_id::text)
      order by line.id
      limit 1
    ) named on true
  ),
  room as (
    select line.*, named.quantity as named, greatest(0, line.quantity - coalesce(named.quantity, 0)) as room
    from line
    left join (select line_id, sum(quantity) as quantity from given group by 1) named on named.line_id = line.id
  ),
  taken as (
    select room.*,
      coalesce(named, 0) + greatest(0, least(room, coalesce(of_sku.quantity, 0) - (sum(room) over earlier - room))) as taken,
      sum(room) over (partition by room.sku) as room_of_sku, of_sku.quantity as wanted_of_sku
    from room
    left join (select sku, sum(quantity) as quantity from given where line_id is null group by 1) of_sku using (sku)
    window earlier as (partition by room.sku order by room.id)
  )
  select
    (
      select array_agg((
        t.id, t.quantity, t.taken,
        (
          select g.posted from given g
          where g.line_id = t.id or g.line_id is null and g.sku = t.sku order by g.position limit 1
        )
      )::internal.callback_line)
      from taken t
    ),
    (
      select format('%slineItems[%s].', path, g.position - 1) || case
        when g.line_id is null and t.id is null and g.sku is not null
          then format('sku: the fulfillment has no "%s"', g.sku)
        when g.line_id is null and t.id is null then format('id: the fulfillment has no line "%s"', g.posted ->> 'id')
        else format('quantity: more than is pending of "%s"', t.sku)
      end
      from given g
      left join taken t on t.id = g.line_id or g.line_id is null and t.sku = g.sku
      where t.id is null or t.named > t.quantity or t.wanted_of_sku > t.room_of_sku and g.line_id is null
      order by g.position
      limit 1
    )
  into lines, problem;
  if problem is not null then
    perform internal.refuse(400, problem);
  end if;
  return lines;
end
$$;

comment on function internal.match_callback_lines is
  'The lines of a fulfillment with the units that a message takes of each. Refuses (400) unknown lines and more than is pending.';
--! EndIncluded fulfillment/callback/match_callback_lines.sql
--! Included fulfillment/callback/merge_callback_fields.sql
-- What a message says of a fulfillment and its lines beyond state and quantities is merged into them: tracking, carrier,
-- purchase order number; trackingUrls as a union; additionalFields by name; any other field into additional_fields by key.
-- id, business, order, location and quantities never come from the message.
create function internal.merge_callback_fields(
  fulfillment_id uuid,
  step_id uuid,
  posted jsonb,
  new_status api.fulfillment_status
) returns void
language plpgsql
set search_path = ''
as $$
declare
  extra jsonb := posted - array[
    'id', 'supplierId', 'purchaseOrderNumber', 'locationId', 'shippingCompany', 'shippingMethod', 'trackingNumber',
    'trackingUrls', 'shippedAt', 'status', 'additionalFields', 'lineItems', 'businessId', 'orderId'
  ] || internal.named_values(posted -> 'additionalFields');
begin
  update api.fulfillments f set
    supplier_id = next.supplier_id, purchase_order_number = next.purchase_order_number,
    shipping_company = next.shipping_company, shipping_method = next.shipping_method,
    tracking_number = next.tracking_number, tracking_urls = next.tracking_urls, shipped_at = next.shipped_at,
    additional_fields = next.additional_fields, status = next.status
  from (
    select
      stored.id,
      step_id as supplier_id,
      coalesce(posted ->> 'purchaseOrderNumber', stored.purchase_order_number) as purchase_order_number,
      coalesce(posted ->> 'shippingCompany', stored.shipping_company) as shipping_company,
      coalesce(posted ->> 'shippingMethod', stored.shipping_method) as shipping_method,
      coalesce(posted ->> 'trackingNumber', stored.tracking_number) as tracking_number,
      case when jsonb_typeof(posted -> 'trackingUrls') = 'array' then stored.tracking_urls || array(
        select url from jsonb_array_elements_text(posted -> 'trackingUrls') with ordinality as u (url, position)
        where url <> all (coalesce(stored.tracking_urls, '{}'))
        group by url
        order by min(position)
      ) else stored.tracking_urls end as tracking_urls,
      case
        when new_status not in ('OPEN', 'SUCCESS') then stored.shipped_at
        when stored.status in ('OPEN', 'SUCCESS') then coalesce((posted ->> 'shippedAt')::timestamptz, stored.shipped_at)
        else coalesce((posted ->> 'shippedAt')::timestamptz, now())
      end as shipped_at,
      case when extra = '{}' then stored.additional_fields
        else internal.merge_json(coalesce(stored.additional_fields, '{}'), extra) end as additional_fields,
      new_status as status
    from api.fulfillments stored
    where stored.id = fulfillment_id
  ) next
  where f.id = next.id
    and (f.supplier_id, f.purchase_order_number, f.shipping_company, f.shipping_method, f.tracking_number, f.tracking_urls,
      f.shipped_at, f.additional_fields, f.status)
    is distinct from (next.supplier_id, next.purchase_order_number, next.shipping_company, next.shipping_method,
      next.tracking_number, next.tracking_urls, next.shipped_at, next.additional_fields, next.status);
end
$$;

comment on function internal.merge_callback_fields is
  'Merges what a message says of a fulfillment into it, and moves it to its next state.';

create function internal.merge_callback_line_fields(lines internal.callback_line[]) returns void
language sql
set search_path = ''
as $$
  update api.fulfillment_line_items l set
    title = next.title, grams = next.grams, price = next.price, shipping_price = next.shipping_price,
    shipping_tax = next.shipping_tax, shipping_method = next.shipping_method, vendor = next.vendor,
    additional_fields = next.additional_fields
  from (
    select
      stored.id,
      coalesce(posted ->> 'title', stored.title) as title,
      coalesce((posted ->> 'grams')::numeric, stored.grams) as grams,
      coalesce((posted ->> 'price')::numeric::integer, stored.price) as price,
      coalesce((posted ->> 'shippingPrice')::numeric::integer, stored.shipping_price) as shipping_price,
      coalesce((posted ->> 'shippingTax')::numeric::integer, stored.shipping_tax) as shipping_tax,
      coalesce(posted ->> 'shippingMethod', stored.shipping_method) as shipping_method,
      coalesce(posted ->> 'vendor', stored.vendor) as vendor,
      case when extra = '{}' then stored.additional_fields
        else internal.merge_json(coalesce(stored.additional_fields, '{}'), extra) end as additional_fields
    from unnest(lines)
    join api.fulfillment_line_items stored on stored.id = line_id
    cross join lateral (
      select posted - '{id, sku, quantity, title, grams, price, shippingPrice, shippingTax, shippingMethod, vendor, additionalFields}'::text[]
        || internal.named_values(posted -> 'additionalFields') as extra
    ) e
    where posted - '{id, sku, quantity}'::text[] <> '{}'
  ) next
  where l.id = next.id
    and (l.title, l.grams, l.price, l.shipping_price, l.shipping_tax, l.shipping_method, l.vendor, l.additional_fields)
    is distinct from (next.title, next.grams, next.price, next.shipping_price, next.shipping_tax, next.shipping_method,
      next.vendor, next.additional_fields)
$$;

comment on function internal.merge_callback_line_fields is 'Merges what a message says of fulfillment lines into them.';
--! EndIncluded fulfillment/callback/merge_callback_fields.sql
--! Included fulfillment/callback/split_fulfillment.sql
-- Moves units out of a fulfillment into a new one of another state, which keeps the order, location, warehouse_order_id,
-- tracking and shipping data. Returns the new one's id.
create function internal.split_fulfillment(
  fulfillment_id uuid,
  lines internal.callback_line[],
  status api.fulfillment_status,
  shipped_at timestamptz default null
) returns uuid
language plpgsql
set search_path = ''
as $$
declare
  source api.fulfillments;
  part api.fulfillments;
  part_lines api.fulfillment_line_items[];
begin
  select * into strict source from api.fulfillments f where f.id = fulfillment_id;
  part_lines := array(
    select l
    from unnest(lines) as moved
    join api.fulfillment_line_items l on l.id = moved.line_id
    where moved.taken > 0
    order by l.id
  );

  delete from api.fulfillment_line_items l using unnest(lines) as moved
  where l.id = moved.line_id and moved.taken = moved.quantity;
  update api.fulfillment_line_items l set quantity = moved.quantity - moved.taken
  from unnest(lines) as moved
  where l.id = moved.line_id and moved.taken between 1 and moved.quantity - 1;

  part := source;
  part.id := uuidv7();
  part.status := split_fulfillment.status;
  part.creation_time := now();
  part.update_time := null;
  part.shipped_at := case when part.status in ('OPEN', 'SUCCESS') then coalesce(split_fulfillment.shipped_at, now()) end;
  insert into api.fulfillments select part.*;

  insert into api.fulfillment_line_items (
    business_id, fulfillment_id, order_line_item_id, inventory_item_id, sku, title, quantity, grams, price,
    shipping_price, shipping_tax, shipping_method, vendor, additional_fields
  )
  select l.business_id, part.id, l.order_line_item_id, l.inventory_item_id, l.sku, l.title, moved.taken, l.grams, l.price,
    l.shipping_price, l.shipping_tax, l.shipping_method, l.vendor, l.additional_fields
  from unnest(part_lines) as l
  join unnest(lines) as moved on moved.line_id = l.id;

  return part.id;
end
$$;

comment on function internal.split_fulfillment is
  'Moves units of lines out of a fulfillment into a new one with a state of its own, and returns its id.';
--! EndIncluded fulfillment/callback/split_fulfillment.sql
--! Included fulfillment/callback/zero_short_inventory.sql
-- A warehouse that ships short has no more of the item: where its step says so (zeroes_short_inventory), available_to_sell
-- of the short items is SET so that nothing more is promised from there, and the same units are taken off the step's
-- virtual location, down to what is committed and reserved there.
create function internal.zero_short_inventory(
  step api.process_shipments_steps,
  location_id uuid,
  fulfillment_id uuid,
  items uuid[]
) returns void
language plpgsql
set search_path = ''
as $$
declare
  entries internal.ledger_entry[];
begin
  perform internal.lock_levels(array(
    select (step.business_id, place, item, null, null, null, null, null, null, null)::internal.ledger_entry
    from unnest(items) item
    cross join unnest(array[zero_short_inventory.location_id, step.virtual_location_id]) place
    where place is not null
  ));
  with promised as (
    select l.*, greatest(0, l.available_to_sell - l.committed - l.reserve) as surplus
    from internal.inventory_levels l
    where l.business_id = step.business_id and l.inventory_item_id = any (items)
      and l.location_id in (zero_short_inventory.location_id, step.virtual_location_id)
  )
  select array_agg((
    step.business_id, here.location_id, here.inventory_item_id, 'available_to_sell', 'SET',
    here.available_to_sell - case when here.location_id = zero_short_inventory.location_id
      then here.surplus else least(here.surplus, warehouse.surplus) end,
    'fulfillment', fulfillment_id, 'Shipped short', null
  )::internal.ledger_entry)
  into entries
  from promised here
  join promised warehouse
    on warehouse.inventory_item_id = here.inventory_item_id and warehouse.location_id = zero_short_inventory.location_id
  where here.surplus > 0 and warehouse.surplus > 0;

  if entries is not null then
    perform internal.post_to_ledger(entries);
  end if;
end
$$;

comment on function internal.zero_short_inventory is
  'Sets available_to_sell of items that a warehouse shipped short so that nothing more is promised, there and at the virtual location.';
--! EndIncluded fulfillment/callback/zero_short_inventory.sql
--! Included fulfillment/callback/apply_callback_fulfillment.sql
-- Applies one posted fulfillment to the fulfillment that it is about (docs/fulfillment.md):
--   OPEN, SUCCESS          a NEW or PENDING one ships. Units that the message leaves out become a BACKORDER fulfillment;
--                          with partialShipments the shipped units become their own fulfillment, the rest stays PENDING
--   CANCELED, BACKORDER    a NEW or PENDING one is released; with partialShipments only the units named
--   SUCCESS on OPEN        the state only
--   PENDING, or the state that it has: fields are merged; OPEN on OPEN must name exactly what has shipped
-- Refuses (400) any other state, and lines as internal.match_callback_lines says.
create function internal.apply_callback_fulfillment(
  step api.process_shipments_steps,
  order_id uuid,
  location_id uuid,
  posted jsonb,
  path text,
  partial_shipments boolean
) returns uuid[]
language plpgsql
set search_path = ''
as $$
declare
  fulfillment api.fulfillments :=
    internal.find_callback_fulfillment(step.business_id, order_id, location_id, posted, path);
  status constant api.fulfillment_status := (posted ->> 'status')::api.fulfillment_status;
  lines constant internal.callback_line[] := internal.match_callback_lines(fulfillment, posted -> 'lineItems', path);
  left_out internal.callback_line[];
  part_id uuid;
begin
  if status = 'NEW' or status <> 'PENDING' and status <> fulfillment.status and (fulfillment.status, status) not in (
    ('NEW', 'OPEN'), ('NEW', 'SUCCESS'), ('NEW', 'CANCELED'), ('NEW', 'BACKORDER'),
    ('PENDING', 'OPEN'), ('PENDING', 'SUCCESS'), ('PENDING', 'CANCELED'), ('PENDING', 'BACKORDER'),
    ('BACKORDER', 'CANCELED'), ('OPEN', 'SUCCESS')
  ) then
    perform internal.refuse(400, format('%sstatus: the fulfillment is %s and cannot become %s', path, fulfillment.status, status));
  end if;

  if status = 'OPEN' and fulfillment.status = 'OPEN' and exists (select from unnest(lines) l where l.taken <> l.quantity) then
    perform internal.refuse(400, path || 'lineItems: the fulfillment has shipped, with other quantities');
  end if;

  if exists (select from unnest(lines) l where l.posted - '{id, sku, quantity}'::text[] <> '{}') then
    perform internal.merge_callback_line_fields(lines);
  end if;

  if fulfillment.status not in ('NEW', 'PENDING') or status = 'PENDING' then
    perform internal.merge_callback_fields(
      fulfillment.id, step.id, posted, case when status = 'PENDING' then fulfillment.status else status end
    );
  else
    left_out := array(
      select (l.line_id, l.quantity, l.quantity - l.taken, l.posted)::internal.callback_line
      from unnest(lines) l
      where l.taken < l.quantity
    );
    if status in ('OPEN', 'SUCCESS') and not exists (select from unnest(lines) l where l.taken > 0) then
      perform internal.refuse(400, path || 'lineItems: nothing ships');
    end if;

    if left_out <> '{}' then
      perform internal.lock_stock_of_order(step, order_id);
    end if;
    if left_out <> '{}' and partial_shipments and jsonb_array_length(posted -> 'lineItems') > 0 then
      perform internal.merge_callback_fields(fulfillment.id, step.id, posted, 'PENDING');
      part_id := internal.split_fulfillment(fulfillment.id, lines, status, (posted ->> 'shippedAt')::timestamptz);
    else
      if left_out <> '{}' and status in ('OPEN', 'SUCCESS') then
        part_id := internal.split_fulfillment(fulfillment.id, left_out, 'BACKORDER');
      end if;
      perform internal.merge_callback_fields(fulfillment.id, step.id, posted, status);
      if part_id is not null and step.zeroes_short_inventory then
        perform internal.zero_short_inventory(step, location_id, fulfillment.id, array(
          select distinct l.inventory_item_id
          from api.fulfillment_line_items l
          where l.business_id = step.business_id and l.fulfillment_id = part_id
        ));
      end if;
    end if;

    if status = 'CANCELED' then
      insert into api.order_activities (business_id, order_id, fulfillment_id, title, operation, result)
      values (step.business_id, order_id, coalesce(part_id, fulfillment.id), 'Fulfillment Canceled', 'callback', 'SUCCESS');
    end if;
  end if;
  return array_remove(array[fulfillment.id, part_id], null);
end
$$;

comment on function internal.apply_callback_fulfillment is
  'Applies one posted fulfillment to the one that it is about and returns the ids of the fulfillments touched. Refuses (400) what does not fit.';
--! EndIncluded fulfillment/callback/apply_callback_fulfillment.sql
--! Included fulfillment/callback/apply_warehouse_refusal.sql
-- The NEW and PENDING fulfillments that a warehouse_order_id means, at the mapped locations and in the channels of a step.
create function internal.pending_of_warehouse_order(step api.process_shipments_steps, warehouse_order_id text)
returns setof api.fulfillments
language sql stable
set search_path = ''
as $$
  select f.*
  from api.fulfillments f
  join api.orders o on o.business_id = f.business_id and o.id = f.order_id
  join internal.warehouse_locations w
    on w.business_id = f.business_id and w.location_id = f.location_id and w.process_shipments_step_id = step.id
  where f.business_id = step.business_id
    and f.additional_fields ->> 'warehouse_order_id' = warehouse_order_id
    and f.status in ('NEW', 'PENDING')
    and (step.channel_ids = '{}' or step.channel_ids is null or o.channel_id = any (step.channel_ids))
$$;

comment on function internal.pending_of_warehouse_order is
  'The NEW and PENDING fulfillments that a warehouse_order_id means to a process-shipments step.';

-- A warehouse refuses an order, {warehouseOrderId, rejectionReason}: its NEW and PENDING fulfillments of that id are removed,
-- their commitments released, the order goes to hold. Or cancels one, {warehouseOrderId, cancellationReason}: they are
-- CANCELED, their commitments released. Both leave an activity. Refuses (400) an id that no such fulfillment has, or
-- those of several orders.
create function internal.apply_warehouse_refusal(step api.process_shipments_steps, message jsonb) returns uuid
language plpgsql
set search_path = ''
as $$
declare
  orders uuid[];
  fulfillments uuid[];
  rejected constant boolean := message ->> 'rejectionReason' is not null;
begin
  orders := array(
    select distinct f.order_id from internal.pending_of_warehouse_order(step, message ->> 'warehouseOrderId') f
  );
  if cardinality(orders) > 1 then
    perform internal.refuse(400, format('warehouseOrderId: fulfillments of several orders have "%s"', message ->> 'warehouseOrderId'));
  end if;
  perform from api.orders o where o.id = orders[1] for no key update;
  perform from api.fulfillments f
  where f.id in (select p.id from internal.pending_of_warehouse_order(step, message ->> 'warehouseOrderId') p)
  order by f.id for no key update;
  fulfillments := array(
    select f.id from internal.pending_of_warehouse_order(step, message ->> 'warehouseOrderId') f where f.order_id = orders[1]
  );
  if fulfillments = '{}' then
    perform internal.refuse(400, format('warehouseOrderId: no pending fulfillment has "%s"', message ->> 'warehouseOrderId'));
  end if;

  perform internal.lock_stock_of_order(step, orders[1]);
  if rejected then
    delete from api.fulfillments f where f.id = any (fulfillments);
    update api.orders o set status = 'hold' where o.id = orders[1] and o.status <> 'hold';
  else
    update api.fulfillments f set status = 'CANCELED' where f.id = any (fulfillments);
  end if;
  insert into api.order_activities (business_id, order_id, fulfillment_id, title, description, operation, result)
  select step.business_id, orders[1], id,
    case when rejected then '3PL Rejection' else 'Fulfillment Canceled' end,
    coalesce(message ->> 'rejectionReason', message ->> 'cancellationReason'),
    'callback',
    case when rejected then 'ERROR' else 'SUCCESS' end::api.activity_result
  from unnest(fulfillments) id;
  return orders[1];
end
$$;

comment on function internal.apply_warehouse_refusal is
  'Applies that a warehouse refuses or cancels an order, and returns the order. Refuses (400) an unknown or ambiguous warehouseOrderId.';
--! EndIncluded fulfillment/callback/apply_warehouse_refusal.sql
--! Included fulfillment/callback/count_callback_results.sql
-- updateResult: what this transaction wrote for an order — ledger entries by operation, activities, whether a fulfillment of
-- the order changed. Null when that is nothing.
create function internal.count_callback_results(business_id uuid, order_id uuid, fulfillments uuid[]) returns jsonb
language plpgsql stable
set search_path = ''
as $$
declare
  adjustments bigint;
  sets bigint;
  activities bigint;
  orders bigint;
begin
  select count(*) filter (where e.operation = 'ADJUST'), count(*) filter (where e.operation = 'SET')
  into adjustments, sets
  from api.inventory_adjustments e
  where e.business_id = count_callback_results.business_id and e.creation_time = now()
    and e.cause_id in (
      select unnest(fulfillments)
      union
      select a.fulfillment_id from api.order_activities a
      where a.business_id = count_callback_results.business_id and a.order_id = count_callback_results.order_id
        and a.creation_time = now()
      union
      select l.id from api.order_line_items l
      where l.business_id = count_callback_results.business_id and l.order_id = count_callback_results.order_id
    );
  select count(*) into activities
  from api.order_activities a
  where a.business_id = count_callback_results.business_id and a.order_id = count_callback_results.order_id
    and a.creation_time = now();
  select (activities > 0 or exists (
    select from api.fulfillments f
    where f.business_id = count_callback_results.business_id and f.order_id = count_callback_results.order_id
      and now() in (f.creation_time, f.update_time)
  ) or exists (
    select from api.fulfillments f
    join api.fulfillment_line_items l on l.business_id = f.business_id and l.fulfillment_id = f.id
    where f.business_id = count_callback_results.business_id and f.order_id = count_callback_results.order_id
      and now() in (l.creation_time, l.update_time)
  ))::integer into orders;

  if adjustments + sets + activities + orders = 0 then
    return null;
  end if;
  return jsonb_build_object(
    'inventoryAdjustmentCount', adjustments, 'inventorySetCount', sets,
    'orderActivityCount', activities, 'orderUpdateCount', orders
  );
end
$$;

comment on function internal.count_callback_results is 'updateResult: what this transaction has written for an order; null for nothing.';
--! EndIncluded fulfillment/callback/count_callback_results.sql
--! Included fulfillment/callback/apply_callback.sql
-- Applies a message of a warehouse, all of it or nothing, and returns how much changed; null when nothing did:
-- a repetition (by Idempotency-Key, else by content), no mapped location, or nothing new.
create function internal.apply_callback(step api.process_shipments_steps, message jsonb, idempotency_key text) returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  order_update constant jsonb := message -> 'orderUpdate';
  partial_shipments constant boolean := coalesce((message #>> '{fulfillmentOptions,partialShipments}')::boolean, false);
  changed_order uuid;
  touched uuid[] := '{}';
  message_hash bytea;
  recorded bytea[] := '{}';
  mapped record;
  result jsonb;
begin
  perform set_config('lading.warehouse_knows', 'true', true);
  if idempotency_key is not null or order_update is null then
    message_hash := internal.record_message(step.business_id, case
      when idempotency_key is not null then jsonb_build_array(step.id, 'Idempotency-Key', idempotency_key)
      else jsonb_build_array(step.id, message)
    end);
    if message_hash is null then
      return null;
    end if;
    recorded := array[message_hash];
  end if;

  if order_update is null then
    changed_order := internal.apply_warehouse_refusal(step, message);
  else
    changed_order := internal.find_callback_order(step, order_update);
    if jsonb_array_length(order_update -> 'fulfillments') > 1 then
      perform internal.lock_stock_of_order(step, changed_order);
    end if;
    for mapped in
      select p.posted, format('orderUpdate.fulfillments[%s].', p.position - 1) as path, w.location_id
      from jsonb_array_elements(order_update -> 'fulfillments') with ordinality as p (posted, position)
      join internal.warehouse_locations w
        on w.business_id = step.business_id and w.process_shipments_step_id = step.id
        and w.location_id = internal.find_location(step.business_id, p.posted ->> 'locationId')
      order by p.position
    loop
      if idempotency_key is null and internal.content_tells_messages_apart(mapped.posted, partial_shipments) then
        message_hash := internal.record_message(
          step.business_id, internal.message_content(changed_order, mapped.location_id, mapped.posted)
        );
        continue when message_hash is null;
        recorded := recorded || message_hash;
      end if;
      touched := touched || internal.apply_callback_fulfillment(
        step, changed_order, mapped.location_id, mapped.posted, mapped.path, partial_shipments
      );
    end loop;
  end if;

  result := internal.count_callback_results(step.business_id, changed_order, touched);
  if result is null then
    -- what changed nothing was not applied: it may be sent again, for example when the location map is mended
    delete from internal.callback_messages m where m.business_id = step.business_id and m.message_hash = any (recorded);
  end if;
  return result;
end
$$;

comment on function internal.apply_callback is
  'Applies a message of a warehouse and returns updateResult, null when nothing changed. Refuses (400) all of it when a part does not fit.';
--! EndIncluded fulfillment/callback/apply_callback.sql
--! Included fulfillment/callback/queued_callbacks.sql
-- Messages to steps that are not synchronous: checked, kept here, applied by the worker's job apply_callback.
create table internal.queued_callbacks (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses on delete cascade,
  step_id uuid not null,
  message jsonb not null,
  idempotency_key text,
  creation_time timestamptz not null default now(),
  unique (business_id, id),
  foreign key (business_id, step_id) references api.process_shipments_steps (business_id, id) on delete cascade
);

create index on internal.queued_callbacks (business_id, step_id);

comment on table internal.queued_callbacks is 'Messages of warehouses to steps that are not synchronous, until they are applied.';

alter table internal.queued_callbacks replica identity using index queued_callbacks_business_id_id_key;
alter table internal.queued_callbacks enable row level security, force row level security;
create policy every_business on internal.queued_callbacks to current_user using (true);

create function internal.apply_queued_callback(queued_id uuid) returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  queued internal.queued_callbacks;
  step api.process_shipments_steps;
begin
  delete from internal.queued_callbacks q where q.id = queued_id returning * into queued;
  if not found then
    return null;
  end if;
  select s.* into step from api.process_shipments_steps s where s.id = queued.step_id;
  return internal.apply_callback(step, queued.message, queued.idempotency_key);
end
$$;

comment on function internal.apply_queued_callback is
  'Applies a queued message of a warehouse and removes it from the queue, in one transaction. Null when it is not there any more.';

-- What becomes of a queued message that is refused: it leaves the queue, and the order's activities say why where the order
-- is known.
create function internal.refuse_queued_callback(queued_id uuid, reason text) returns void
language plpgsql
set search_path = ''
as $$
declare
  queued internal.queued_callbacks;
  step api.process_shipments_steps;
  order_id uuid;
begin
  delete from internal.queued_callbacks q where q.id = queued_id returning * into queued;
  if not queued.message ? 'orderUpdate' then
    return;
  end if;
  select s.* into step from api.process_shipments_steps s where s.id = queued.step_id;
  begin
    order_id := internal.find_callback_order(step, queued.message -> 'orderUpdate');
  exception
    when sqlstate 'PT400' then
      return;
  end;
  insert into api.order_activities (business_id, order_id, title, description, operation, result)
  values (queued.business_id, order_id, 'Callback Refused', reason, 'callback', 'ERROR');
end
$$;

comment on function internal.refuse_queued_callback is
  'Drops a queued message that was refused and tells why in the activities of the order that it names.';
--! EndIncluded fulfillment/callback/queued_callbacks.sql
--! Included fulfillment/callback/receive_callback.sql
-- The callback of a warehouse, POST /v1/suppliers/<supplier>/callbacks (docs/fulfillment.md): all of it in this one call.
-- Checks in this order: keys (401, 403), the step, which must be of the key's business (404), then what the sidecar found
-- wrong with the body (`refusal`: {status, message}). Then the message is applied, or queued where the step is not
-- synchronous. Returns {status: 200 | 202 | 204, updateResult}.
create function internal.receive_callback(
  application_key text,
  authorization_header text,
  supplier text,
  idempotency_key text,
  refusal jsonb,
  message jsonb
) returns jsonb
language plpgsql
security definer set search_path = '' set plan_cache_mode = 'force_generic_plan'
as $$
declare
  caller record;
  step api.process_shipments_steps;
  queued_id uuid;
  result jsonb;
begin
  caller := internal.identify_caller(application_key, authorization_header);
  select s.* into step
  from api.process_shipments_steps s
  where s.id = case when pg_input_is_valid(supplier, 'uuid') then supplier::uuid end
    and (s.business_id = caller.business_id or caller.role = 'operator');
  if not found then
    perform internal.refuse(404, format('No process-shipments step "%s"', left(supplier, 80)));
  elsif refusal is not null then
    perform internal.refuse((refusal ->> 'status')::integer, refusal ->> 'message');
  end if;

  if not step.is_synchronous then
    insert into internal.queued_callbacks (business_id, step_id, message, idempotency_key)
    values (step.business_id, step.id, message, nullif(receive_callback.idempotency_key, ''))
    returning id into queued_id;
    perform internal.add_job('apply_callback', jsonb_build_object('id', queued_id));
    return '{"status": 202}';
  end if;

  result := internal.apply_callback(step, message, nullif(receive_callback.idempotency_key, ''));
  return case when result is null then '{"status": 204}'
    else jsonb_build_object('status', 200, 'updateResult', result) end;
end
$$;

comment on function internal.receive_callback is
  'The warehouse callback: checks keys and step, applies or queues the message, returns {status, updateResult}. Refuses 400, 401, 404.';

grant execute on function internal.receive_callback to authenticator;
--! EndIncluded fulfillment/callback/receive_callback.sql

-- webhooks: events, who gets them, and what became of them
--! Included webhooks/webhook_actions.sql
-- What a webhook can be subscribed to. Read only.
create table api.webhook_actions (
  action text primary key,
  description text not null,
  resource text not null check (resource in ('shipments', 'shipment_receipts')),
  constraint action_begins_with_its_object check (starts_with(action, rtrim(resource, 's') || '.'))
);

comment on table api.webhook_actions is 'Actions that webhooks can be subscribed to. Read only.';
comment on column api.webhook_actions.action is 'Primary key: name of the action, for example shipment.created.';
comment on column api.webhook_actions.description is 'When the action fires.';
comment on column api.webhook_actions.resource is
  'Resource whose records the action is about: shipments or shipment_receipts.';

insert into api.webhook_actions (action, resource, description) values
  ('shipment.created', 'shipments', 'A shipment was created.'),
  ('shipment.updated', 'shipments', 'A shipment or one of its items changed, its status included.'),
  ('shipment.updated.status', 'shipments', 'The status of a shipment changed.'),
  ('shipment.deleted', 'shipments', 'A shipment was deleted.'),
  ('shipment_receipt.created', 'shipment_receipts', 'A shipment receipt was created.'),
  ('shipment_receipt.updated', 'shipment_receipts', 'A shipment receipt or one of its items changed.'),
  ('shipment_receipt.completed', 'shipment_receipts', 'A shipment receipt was completed, which is final.'),
  ('shipment_receipt.deleted', 'shipment_receipts', 'A shipment receipt was deleted.');

alter table api.webhook_actions enable row level security, force row level security;
create policy every_row on api.webhook_actions using (true);

grant select on api.webhook_actions to business, operator;
--! EndIncluded webhooks/webhook_actions.sql
--! Included webhooks/webhook_configurations.sql
-- Where a business wants its events delivered. What it is subscribed to is in webhook_configuration_actions,
-- the secret that signs its deliveries in internal.webhook_secrets.
create table api.webhook_configurations (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  name text,
  hook_consumer_url text not null
    constraint hook_consumer_url_is_http check (internal.is_http_address(hook_consumer_url)),
  producer_url text constraint producer_url_is_http check (internal.is_http_address(producer_url)),
  is_enabled boolean not null default true,
  is_immediate boolean not null default false,
  disabled_reason text,
  disabled_time timestamptz,
  creation_time timestamptz default now(),
  update_time timestamptz
);

call internal.seal_tenant_table('api.webhook_configurations');

comment on table api.webhook_configurations is
  'Webhook configurations: addresses of consumers that events are delivered to.';
comment on column api.webhook_configurations.id is 'Primary key.';
comment on column api.webhook_configurations.business_id is 'Business whose events are delivered.';
comment on column api.webhook_configurations.name is 'Name of the configuration.';
comment on column api.webhook_configurations.hook_consumer_url is 'Address (http or https) of the consumer.';
comment on column api.webhook_configurations.producer_url is
  'Address (http or https) that delivers to the consumer. Default: the delivery address of this installation. '
  'Another one gets the signed event with the header webhook-consumer-url. Bodies over 300 kB skip it.';
comment on column api.webhook_configurations.is_enabled is
  'Whether events are delivered. Set to false when the consumer answers 410 or fails for 5 days.';
comment on column api.webhook_configurations.is_immediate is
  'Whether events fire when their change commits, instead of once a minute.';
comment on column api.webhook_configurations.disabled_reason is
  'Why the configuration was disabled; null while it never was.';
comment on column api.webhook_configurations.disabled_time is 'When the configuration was disabled.';
comment on column api.webhook_configurations.creation_time is 'When the record was created.';
comment on column api.webhook_configurations.update_time is 'When the record was last changed.';

grant select, insert, update, delete on api.webhook_configurations to business, operator;

create trigger addresses_must_be_public before insert or update of hook_consumer_url, producer_url on api.webhook_configurations
  for each row execute function internal.addresses_must_be_public('hook_consumer_url', 'producer_url');
--! EndIncluded webhooks/webhook_configurations.sql
--! Included webhooks/default_producer_is_this_installation.sql
-- A webhook configuration without a producer_url is delivered by this installation, and says so.
create function internal.default_producer_is_this_installation() returns trigger
language plpgsql
security definer set search_path = ''
as $$
begin
  new.producer_url := internal.delivery_address();
  return new;
end
$$;

comment on function internal.default_producer_is_this_installation is
  'Sets the producer_url of a webhook configuration that has none.';

create trigger default_producer_is_this_installation before insert or update on api.webhook_configurations for each row
  when (new.producer_url is null) execute function internal.default_producer_is_this_installation();
--! EndIncluded webhooks/default_producer_is_this_installation.sql
--! Included webhooks/webhook_secrets.sql
-- The secrets that sign deliveries (Standard Webhooks). Each configuration has one that is current; a rotated one signs too
-- until it expires. Readable by the owner only.
create table internal.webhook_secrets (
  id uuid primary key default uuidv7(),
  business_id uuid not null,
  webhook_configuration_id uuid not null,
  secret text not null default 'whsec_' || encode(internal.gen_random_bytes(32), 'base64')
    check (secret ~ '^whsec_[A-Za-z0-9+/]+=*$'),
  creation_time timestamptz not null default now(),
  expires_time timestamptz,
  unique (business_id, id),
  foreign key (business_id, webhook_configuration_id) references api.webhook_configurations (business_id, id)
    on delete cascade
);

create index on internal.webhook_secrets (business_id, webhook_configuration_id);
create unique index only_one_current_webhook_secret on internal.webhook_secrets (webhook_configuration_id)
  where expires_time is null;

comment on table internal.webhook_secrets is
  'Secrets that sign deliveries. The one without expires_time is current; others sign too until they expire.';

alter table internal.webhook_secrets replica identity using index webhook_secrets_business_id_id_key;
alter table internal.webhook_secrets enable row level security, force row level security;
create policy every_business on internal.webhook_secrets to current_user using (true);
--! EndIncluded webhooks/webhook_secrets.sql
--! Included webhooks/every_configuration_has_a_secret.sql
-- A webhook configuration has a secret from the start.
create function internal.every_configuration_has_a_secret() returns trigger
language plpgsql
security definer set search_path = ''
as $$
begin
  insert into internal.webhook_secrets (business_id, webhook_configuration_id)
  select c.business_id, c.id from created c;
  return null;
end
$$;

comment on function internal.every_configuration_has_a_secret is
  'Makes the secrets of the webhook configurations that a statement created.';

create trigger every_configuration_has_a_secret after insert on api.webhook_configurations
  referencing new table as created
  for each statement execute function internal.every_configuration_has_a_secret();
--! EndIncluded webhooks/every_configuration_has_a_secret.sql
--! Included webhooks/webhook_configuration_actions.sql
-- What each webhook configuration is subscribed to. A subscription goes with its configuration.
create table api.webhook_configuration_actions (
  id uuid primary key default uuidv7(),
  business_id uuid not null default internal.business_id() references api.businesses,
  webhook_configuration_id uuid not null,
  action text not null references api.webhook_actions,
  capture_snapshot boolean not null default false,
  creation_time timestamptz default now(),
  update_time timestamptz,
  unique (business_id, webhook_configuration_id, action),
  foreign key (business_id, webhook_configuration_id) references api.webhook_configurations (business_id, id)
    on delete cascade
);

create index on api.webhook_configuration_actions (business_id, action);

call internal.seal_tenant_table('api.webhook_configuration_actions');

comment on table api.webhook_configuration_actions is
  'Actions that webhook configurations are subscribed to, each once per configuration.';
comment on column api.webhook_configuration_actions.id is 'Primary key.';
comment on column api.webhook_configuration_actions.business_id is 'Business of the configuration; need not be sent.';
comment on column api.webhook_configuration_actions.webhook_configuration_id is 'Configuration that is subscribed.';
comment on column api.webhook_configuration_actions.action is 'Action that it is subscribed to.';
comment on column api.webhook_configuration_actions.capture_snapshot is
  'True: an event carries its object as it was when it changed. False: as it is when the event fires.';
comment on column api.webhook_configuration_actions.creation_time is 'When the record was created.';
comment on column api.webhook_configuration_actions.update_time is 'When the record was last changed.';

grant select, insert, update, delete on api.webhook_configuration_actions to business, operator;
--! EndIncluded webhooks/webhook_configuration_actions.sql
--! Included webhooks/subscription_belongs_to_the_business_of_its_configuration.sql
-- A subscription that comes without a business_id gets that of its configuration.
-- Refuses (400) a configuration that the caller does not have.
create function internal.subscription_belongs_to_the_business_of_its_configuration() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.business_id := (select c.business_id from api.webhook_configurations c where c.id = new.webhook_configuration_id);
  if new.business_id is null then
    perform internal.refuse(400, 'webhook_configuration_id: no such webhook configuration');
  end if;
  return new;
end
$$;

comment on function internal.subscription_belongs_to_the_business_of_its_configuration is
  'Sets the business of a subscription that comes without one. Refuses (400) an unknown configuration.';

create trigger belongs_to_the_business_of_its_configuration
  before insert on api.webhook_configuration_actions for each row
  when (new.business_id is null) execute function internal.subscription_belongs_to_the_business_of_its_configuration();
--! EndIncluded webhooks/subscription_belongs_to_the_business_of_its_configuration.sql
--! Included webhooks/shipment_webhooks.sql
-- Events of shipments: one row per change and subscribed action, written with the change.
-- A client may write rows too: one that is ready is fired like any other. shipment_id refers to nothing, since
-- shipments that are gone have events too.
create type api.webhook_status as enum ('ready', 'sent');

comment on type api.webhook_status is 'ready: waits to be fired. sent: handed to delivery.';

create table api.shipment_webhooks (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  transaction_id bigint not null default (pg_current_xact_id()::text::bigint),
  shipment_id uuid not null,
  action text not null references api.webhook_actions check (starts_with(action, 'shipment.')),
  status api.webhook_status not null default 'ready',
  shipment_json jsonb check (jsonb_typeof(shipment_json) = 'object'),
  creation_time timestamptz default now(),
  update_time timestamptz
);

create index on api.shipment_webhooks (business_id, shipment_id);
create index on api.shipment_webhooks (business_id, action);
create index shipment_webhooks_ready_idx on api.shipment_webhooks (id) where status = 'ready';
create index shipment_webhooks_ready_by_transaction_idx on api.shipment_webhooks (transaction_id) where status = 'ready';

call internal.seal_tenant_table('api.shipment_webhooks');

comment on table api.shipment_webhooks is
  'Events of shipments that webhooks are subscribed to. Fired while ready, then sent.';
comment on column api.shipment_webhooks.id is 'Primary key; id of the event in what is delivered.';
comment on column api.shipment_webhooks.business_id is 'Business that the shipment belongs to.';
comment on column api.shipment_webhooks.transaction_id is
  'Database transaction of the change: the same for all that changed together.';
comment on column api.shipment_webhooks.shipment_id is 'Shipment that changed; it may be deleted since.';
comment on column api.shipment_webhooks.action is 'What happened to it, a value of webhook_actions.';
comment on column api.shipment_webhooks.status is
  'ready: waits to be fired. sent: handed to delivery; webhook_deliveries tells what the consumer answered.';
comment on column api.shipment_webhooks.shipment_json is
  'The shipment as it was when it changed, for subscriptions with capture_snapshot. Null: it is delivered as it is '
  'when the event fires.';
comment on column api.shipment_webhooks.creation_time is 'When the event happened.';
comment on column api.shipment_webhooks.update_time is 'When the record was last changed.';

grant select, insert, update, delete on api.shipment_webhooks to business, operator;
--! EndIncluded webhooks/shipment_webhooks.sql
--! Included webhooks/shipment_receipt_webhooks.sql
-- Events of shipment receipts: one row per change and subscribed action, written with the change.
-- A client may write rows too: one that is ready is fired like any other. shipment_receipt_id refers to nothing, since
-- shipment receipts that are gone have events too.
create table api.shipment_receipt_webhooks (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  transaction_id bigint not null default (pg_current_xact_id()::text::bigint),
  shipment_receipt_id uuid not null,
  action text not null references api.webhook_actions check (starts_with(action, 'shipment_receipt.')),
  status api.webhook_status not null default 'ready',
  shipment_receipt_json jsonb check (jsonb_typeof(shipment_receipt_json) = 'object'),
  creation_time timestamptz default now(),
  update_time timestamptz
);

create index on api.shipment_receipt_webhooks (business_id, shipment_receipt_id);
create index on api.shipment_receipt_webhooks (business_id, action);
create index shipment_receipt_webhooks_ready_idx on api.shipment_receipt_webhooks (id) where status = 'ready';
create index shipment_receipt_webhooks_ready_by_transaction_idx on api.shipment_receipt_webhooks (transaction_id) where status = 'ready';

call internal.seal_tenant_table('api.shipment_receipt_webhooks');

comment on table api.shipment_receipt_webhooks is
  'Events of shipment receipts that webhooks are subscribed to. Fired while ready, then sent.';
comment on column api.shipment_receipt_webhooks.id is 'Primary key; id of the event in what is delivered.';
comment on column api.shipment_receipt_webhooks.business_id is 'Business that the shipment receipt belongs to.';
comment on column api.shipment_receipt_webhooks.transaction_id is
  'Database transaction of the change: the same for all that changed together.';
comment on column api.shipment_receipt_webhooks.shipment_receipt_id is
  'Shipment receipt that changed; it may be deleted since.';
comment on column api.shipment_receipt_webhooks.action is 'What happened to it, a value of webhook_actions.';
comment on column api.shipment_receipt_webhooks.status is
  'ready: waits to be fired. sent: handed to delivery; webhook_deliveries tells what the consumer answered.';
comment on column api.shipment_receipt_webhooks.shipment_receipt_json is
  'The shipment receipt as it was when it changed, for subscriptions with capture_snapshot. Null: it is delivered '
  'as it is when the event fires.';
comment on column api.shipment_receipt_webhooks.creation_time is 'When the event happened.';
comment on column api.shipment_receipt_webhooks.update_time is 'When the record was last changed.';

grant select, insert, update, delete on api.shipment_receipt_webhooks to business, operator;
--! EndIncluded webhooks/shipment_receipt_webhooks.sql
--! Included webhooks/webhook_sequences.sql
-- Counts the events of each shipment and receipt that were fired, so that a consumer can tell which of two is newer.
create table internal.webhook_sequences (
  business_id uuid not null references api.businesses on delete cascade,
  object_id uuid not null,
  last_sequence bigint not null check (last_sequence >= 0),
  primary key (business_id, object_id)
);

comment on table internal.webhook_sequences is 'The sequence last given to an event of a shipment or receipt.';

alter table internal.webhook_sequences replica identity using index webhook_sequences_pkey;
alter table internal.webhook_sequences enable row level security, force row level security;
create policy every_business on internal.webhook_sequences to current_user using (true);
--! EndIncluded webhooks/webhook_sequences.sql
--! Included webhooks/webhook_deliveries.sql
-- What was and will be delivered: one row per event and configuration that was subscribed when it fired, also the queue.
--   pending    waits for next_attempt_time
--   sending    a worker holds it. The claim adds 1 to lease_token and moves next_attempt_time to the end of the lease, so that
--              a delivery whose worker died is due again; only the holder of the latest token may record an outcome
--   delivered  the consumer answered 2xx
--   failed     given up after the last retry
--   canceled   the configuration was disabled before it was delivered
-- Read only; written by workers. Kept for a time, then deleted in the order of ids, which is that of time.
create type api.webhook_delivery_state as enum ('pending', 'sending', 'delivered', 'failed', 'canceled');

comment on type api.webhook_delivery_state is
  'pending: waits for its next attempt. sending: under way. delivered: answered 2xx. failed: given up. canceled: '
  'configuration disabled.';

create table api.webhook_deliveries (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  webhook_configuration_id uuid not null,
  event_id uuid not null,
  action text not null references api.webhook_actions,
  object_id uuid not null,
  sequence bigint not null,
  event_time timestamptz not null,
  is_test boolean not null default false,
  replay_of uuid,
  payload jsonb,
  payload_bytes integer not null check (payload_bytes >= 0),
  state api.webhook_delivery_state not null default 'pending',
  attempt_count integer not null default 0 check (attempt_count >= 0),
  next_attempt_time timestamptz default now(),
  lease_token bigint not null default 0,
  response_status integer,
  duration_ms integer,
  error text,
  ended_time timestamptz,
  creation_time timestamptz default now(),
  update_time timestamptz,
  constraint large_payloads_are_not_kept check (payload is null or payload_bytes <= 300000),
  constraint due_until_ended check (
    case when state in ('pending', 'sending') then next_attempt_time is not null and ended_time is null
    else next_attempt_time is null and ended_time is not null end
  ),
  foreign key (business_id, webhook_configuration_id) references api.webhook_configurations (business_id, id)
    on delete cascade
);

call internal.seal_tenant_table('api.webhook_deliveries');

alter table api.webhook_deliveries
  add foreign key (business_id, replay_of) references api.webhook_deliveries (business_id, id)
  on delete set null (replay_of);

create index webhook_deliveries_due_idx on api.webhook_deliveries (next_attempt_time) where next_attempt_time is not null;
create index webhook_deliveries_due_by_configuration_idx
  on api.webhook_deliveries (business_id, webhook_configuration_id, next_attempt_time, id) where next_attempt_time is not null;
create index on api.webhook_deliveries (business_id, webhook_configuration_id, id);
create index on api.webhook_deliveries (business_id, object_id, sequence);
create index on api.webhook_deliveries (business_id, event_id);
create index on api.webhook_deliveries (business_id, action, id);
create index webhook_deliveries_failed_idx on api.webhook_deliveries (business_id, id) where state in ('failed', 'canceled');
create index on api.webhook_deliveries (business_id, replay_of) where replay_of is not null;

comment on table api.webhook_deliveries is
  'Deliveries of events to webhook configurations, with the outcome of the last attempt. Read only; kept 30 days.';
comment on column api.webhook_deliveries.id is 'Primary key.';
comment on column api.webhook_deliveries.business_id is 'Business whose event it is.';
comment on column api.webhook_deliveries.webhook_configuration_id is 'Configuration that it goes to.';
comment on column api.webhook_deliveries.event_id is
  'Id of the event: of its row in shipment_webhooks or shipment_receipt_webhooks, or of a test. Sent as webhook-id; '
  'the same on a replay.';
comment on column api.webhook_deliveries.action is 'What happened, a value of webhook_actions.';
comment on column api.webhook_deliveries.object_id is 'Shipment or receipt that the event is about.';
comment on column api.webhook_deliveries.sequence is 'Grows with each event of the same object.';
comment on column api.webhook_deliveries.event_time is 'When the event happened.';
comment on column api.webhook_deliveries.is_test is 'Whether it was sent on request, to try the consumer.';
comment on column api.webhook_deliveries.replay_of is
  'Delivery that this one repeats; null when it is the first, or that one is no longer kept.';
comment on column api.webhook_deliveries.payload is 'Body that is sent; null when it is over 300 kB (300,000 bytes).';
comment on column api.webhook_deliveries.payload_bytes is 'Size of the body in bytes.';
comment on column api.webhook_deliveries.state is
  'pending: waits for its next attempt. sending: under way. delivered: answered 2xx. failed: given up. canceled: '
  'configuration disabled.';
comment on column api.webhook_deliveries.attempt_count is 'Attempts recorded.';
comment on column api.webhook_deliveries.next_attempt_time is
  'When the next attempt is due; while sending, when the present one counts as lost. Null once ended.';
comment on column api.webhook_deliveries.lease_token is
  'Grows with each attempt begun: only the latest may record its outcome.';
comment on column api.webhook_deliveries.response_status is 'HTTP status of the last answer; null when there was none.';
comment on column api.webhook_deliveries.duration_ms is 'Duration of the last attempt in milliseconds.';
comment on column api.webhook_deliveries.error is 'Why the last attempt failed; null when it did not.';
comment on column api.webhook_deliveries.ended_time is 'When it was delivered or given up; null while attempts go on.';
comment on column api.webhook_deliveries.creation_time is 'When the event fired.';
comment on column api.webhook_deliveries.update_time is 'When the record was last changed.';

grant select on api.webhook_deliveries to business, operator;
--! EndIncluded webhooks/webhook_deliveries.sql
--! Included webhooks/webhook_delivery_attempts.sql
-- Every attempt at a delivery: what was sent where, and what came back. Read only; goes with its delivery.
-- The body sent is the payload of the delivery.
create table api.webhook_delivery_attempts (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses,
  webhook_delivery_id uuid not null,
  attempt_number integer not null check (attempt_number > 0),
  attempt_time timestamptz not null default now(),
  request_url text not null,
  request_headers jsonb not null default '{}' check (jsonb_typeof(request_headers) = 'object'),
  response_status integer,
  response_headers jsonb check (jsonb_typeof(response_headers) = 'object'),
  response_body text check (octet_length(response_body) <= 16384),
  duration_ms integer not null check (duration_ms >= 0),
  error text,
  creation_time timestamptz default now(),
  update_time timestamptz,
  unique (business_id, webhook_delivery_id, attempt_number),
  foreign key (business_id, webhook_delivery_id) references api.webhook_deliveries (business_id, id) on delete cascade
);

create index on api.webhook_delivery_attempts (business_id, attempt_time);

call internal.seal_tenant_table('api.webhook_delivery_attempts');

comment on table api.webhook_delivery_attempts is
  'Attempts at webhook deliveries, with request and answer. Read only; kept as long as their delivery.';
comment on column api.webhook_delivery_attempts.id is 'Primary key.';
comment on column api.webhook_delivery_attempts.business_id is 'Business whose event it is.';
comment on column api.webhook_delivery_attempts.webhook_delivery_id is
  'Delivery that was attempted; its payload is the body sent.';
comment on column api.webhook_delivery_attempts.attempt_number is 'First attempt: 1.';
comment on column api.webhook_delivery_attempts.attempt_time is 'When the attempt began.';
comment on column api.webhook_delivery_attempts.request_url is
  'Address posted to: the producer_url or the hook_consumer_url of the configuration at the time.';
comment on column api.webhook_delivery_attempts.request_headers is 'Headers sent, secrets masked.';
comment on column api.webhook_delivery_attempts.response_status is
  'HTTP status of the answer; null when there was none.';
comment on column api.webhook_delivery_attempts.response_headers is 'Headers of the answer; null when there was none.';
comment on column api.webhook_delivery_attempts.response_body is 'The first 16 kB of the body of the answer.';
comment on column api.webhook_delivery_attempts.duration_ms is 'Duration in milliseconds.';
comment on column api.webhook_delivery_attempts.error is 'Why the attempt failed; null when it did not.';
comment on column api.webhook_delivery_attempts.creation_time is 'When the attempt was recorded.';
comment on column api.webhook_delivery_attempts.update_time is 'When the record was last changed.';

grant select on api.webhook_delivery_attempts to business, operator;
--! EndIncluded webhooks/webhook_delivery_attempts.sql
--! Included webhooks/events/record_events.sql
-- Records events in the transaction of the change: one row per object and subscribed action, none where nobody subscribes.
--   * within one transaction an object has each action once, and no `updated` beside its `created`
--   * with capture_snapshot the object's JSON is kept as it is when the transaction has made its last change
--   * configurations that are is_immediate are fired as soon as the change commits
-- `gone` carries the last state of objects that are deleted.
create function internal.record_events(
  resource text,
  verb text,
  businesses uuid[],
  objects uuid[],
  gone jsonb[] default null
) returns void
language plpgsql
security definer set search_path = ''
as $$
declare
  object_name constant text := rtrim(resource, 's');
  event_table constant text := object_name || '_webhooks';
  event_action constant text := object_name || '.' || verb;
  created constant text := coalesce(current_setting('lading.created_objects', true), '');
  transaction constant bigint := pg_current_xact_id()::text::bigint;
  fires_at_once boolean;
begin
  if objects is null or objects = '{}' or not exists (
    select from api.webhook_configuration_actions a
    where a.business_id = any (businesses) and starts_with(a.action, object_name || '.')
  ) then
    return;
  end if;
  if verb = 'created' then
    perform set_config('lading.created_objects', created || array_to_string(objects, ' ') || ' ', true);
  end if;

  execute format($sql$
    with subscribed as (
      select a.business_id, bool_or(a.capture_snapshot) as captures, bool_or(c.is_immediate) as is_immediate
      from api.webhook_configuration_actions a
      join api.webhook_configurations c on c.business_id = a.business_id and c.id = a.webhook_configuration_id
      where a.business_id = any ($1) and a.action = $4 and c.is_enabled
      group by 1
    ),
    recorded as (
      insert into api.%1$I (business_id, %2$I, action, %3$I)
      select o.business_id, o.id, $4, case when s.captures then coalesce(o.gone, document.document) end
      from unnest($1, $2, $3) with ordinality as o (business_id, id, gone, position)
      join subscribed s on s.business_id = o.business_id
      left join internal.%4$I(case when $3 is null then $2 end) document on s.captures and document.id = o.id
      where not ($5 and position(o.id::text in $6) > 0)
        and not exists (
          select from api.%1$I w
          where w.business_id = o.business_id and w.%2$I = o.id and w.action = $4 and w.transaction_id = $7
        )
      order by o.position
      returning business_id
    )
    select bool_or(s.is_immediate) from recorded join subscribed s using (business_id)
  $sql$, event_table, object_name || '_id', object_name || '_json', resource || '_in_full')
  into fires_at_once
  using businesses, objects, gone, event_action, verb = 'updated', created, transaction;

  if gone is null and verb <> 'created' then
    execute format($sql$
      update api.%1$I w set %3$I = document.document
      from internal.%4$I(array(
        select e.%2$I from api.%1$I e
        where e.business_id = any ($1) and e.%2$I = any ($2) and e.transaction_id = $3 and e.%3$I is not null
      )) document
      where w.business_id = any ($1) and w.%2$I = document.id and w.transaction_id = $3 and w.status = 'ready'
        and w.%3$I is not null and w.%3$I <> document.document
    $sql$, event_table, object_name || '_id', object_name || '_json', resource || '_in_full')
    using businesses, objects, transaction;
  end if;

  if fires_at_once then
    perform internal.add_job(
      'fire_webhooks', jsonb_build_object('transaction_id', transaction::text), 'fire_webhooks ' || transaction
    );
  end if;
end
$$;

comment on function internal.record_events is
  'Records an event per object for a subscribed action of shipments or shipment_receipts, in the transaction of the change.';
--! EndIncluded webhooks/events/record_events.sql
--! Included webhooks/events/shipments_fire_events.sql
-- Events of shipments (docs/webhooks.md): shipment.created, .updated, .updated.status and .deleted. A change of its
-- packages or items is a change of the shipment. A statement that changes nothing fires nothing.
create function internal.shipments_fire_events() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  changed record;
begin
  if tg_op = 'INSERT' then
    select array_agg(business_id) as businesses, array_agg(id) as ids into changed from new_rows;
    perform internal.record_events('shipments', 'created', changed.businesses, changed.ids);
  elsif tg_op = 'DELETE' then
    select array_agg(business_id) as businesses, array_agg(id) as ids, array_agg(to_jsonb(o)) as gone
    into changed from old_rows o;
    perform internal.record_events('shipments', 'deleted', changed.businesses, changed.ids, changed.gone);
  else
    select array_agg(after.business_id) as businesses, array_agg(after.id) as ids
    into changed
    from old_rows before
    join new_rows after using (id)
    where before is distinct from after;
    perform internal.record_events('shipments', 'updated', changed.businesses, changed.ids);
    select array_agg(after.business_id) as businesses, array_agg(after.id) as ids
    into changed
    from old_rows before
    join new_rows after using (id)
    where before.status <> after.status;
    perform internal.record_events('shipments', 'updated.status', changed.businesses, changed.ids);
  end if;
  return null;
end
$$;

comment on function internal.shipments_fire_events is 'Records the events of shipments that are created, changed or deleted.';

create trigger shipments_fire_events_on_insert after insert on api.shipments
  referencing new table as new_rows for each statement execute function internal.shipments_fire_events();
create trigger shipments_fire_events_on_update after update on api.shipments
  referencing old table as old_rows new table as new_rows for each statement execute function internal.shipments_fire_events();
create trigger shipments_fire_events_on_delete after delete on api.shipments
  referencing old table as old_rows for each statement execute function internal.shipments_fire_events();

create function internal.shipment_contents_fire_events() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  contents_of uuid[];
  changed record;
begin
  if tg_op = 'INSERT' then
    contents_of := array(select distinct shipment_id from new_rows);
  elsif tg_op = 'DELETE' then
    contents_of := array(select distinct shipment_id from old_rows);
  else
    contents_of := array(
      select distinct unnest(array[before.shipment_id, after.shipment_id])
      from old_rows before
      join new_rows after using (id)
      where before is distinct from after
    );
  end if;
  select array_agg(s.business_id) as businesses, array_agg(s.id) as ids
  into changed
  from api.shipments s
  where s.id = any (contents_of);
  perform internal.record_events('shipments', 'updated', changed.businesses, changed.ids);
  return null;
end
$$;

comment on function internal.shipment_contents_fire_events is 'Records shipment.updated for shipments whose packages or items change.';

create trigger shipment_contents_fire_events_on_insert after insert on api.shipment_items
  referencing new table as new_rows for each statement execute function internal.shipment_contents_fire_events();
create trigger shipment_contents_fire_events_on_update after update on api.shipment_items
  referencing old table as old_rows new table as new_rows
  for each statement execute function internal.shipment_contents_fire_events();
create trigger shipment_contents_fire_events_on_delete after delete on api.shipment_items
  referencing old table as old_rows for each statement execute function internal.shipment_contents_fire_events();
create trigger shipment_contents_fire_events_on_insert after insert on api.shipment_packages
  referencing new table as new_rows for each statement execute function internal.shipment_contents_fire_events();
create trigger shipment_contents_fire_events_on_update after update on api.shipment_packages
  referencing old table as old_rows new table as new_rows
  for each statement execute function internal.shipment_contents_fire_events();
create trigger shipment_contents_fire_events_on_delete after delete on api.shipment_packages
  referencing old table as old_rows for each statement execute function internal.shipment_contents_fire_events();
--! EndIncluded webhooks/events/shipments_fire_events.sql
--! Included webhooks/events/shipment_receipts_fire_events.sql
-- Events of receipts (docs/webhooks.md): shipment_receipt.created, .updated, .completed and .deleted. A change of its
-- items is a change of the receipt. A receipt created and completed in one call has no `updated`.
create function internal.shipment_receipts_fire_events() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  changed record;
begin
  if tg_op = 'INSERT' then
    select array_agg(business_id) as businesses, array_agg(id) as ids into changed from new_rows;
    perform internal.record_events('shipment_receipts', 'created', changed.businesses, changed.ids);
    select array_agg(business_id) as businesses, array_agg(id) as ids into changed
    from new_rows where completed_time is not null;
    perform internal.record_events('shipment_receipts', 'completed', changed.businesses, changed.ids);
  elsif tg_op = 'DELETE' then
    select array_agg(business_id) as businesses, array_agg(id) as ids, array_agg(to_jsonb(o)) as gone
    into changed from old_rows o;
    perform internal.record_events('shipment_receipts', 'deleted', changed.businesses, changed.ids, changed.gone);
  else
    select array_agg(after.business_id) as businesses, array_agg(after.id) as ids
    into changed
    from old_rows before
    join new_rows after using (id)
    where before is distinct from after;
    perform internal.record_events('shipment_receipts', 'updated', changed.businesses, changed.ids);
    select array_agg(after.business_id) as businesses, array_agg(after.id) as ids
    into changed
    from old_rows before
    join new_rows after using (id)
    where before.completed_time is null and after.completed_time is not null;
    perform internal.record_events('shipment_receipts', 'completed', changed.businesses, changed.ids);
  end if;
  return null;
end
$$;

comment on function internal.shipment_receipts_fire_events is
  'Records the events of receipts that are created, changed, completed or deleted.';

create trigger shipment_receipts_fire_events_on_insert after insert on api.shipment_receipts
  referencing new table as new_rows for each statement execute function internal.shipment_receipts_fire_events();
create trigger shipment_receipts_fire_events_on_update after update on api.shipment_receipts
  referencing old table as old_rows new table as new_rows
  for each statement execute function internal.shipment_receipts_fire_events();
create trigger shipment_receipts_fire_events_on_delete after delete on api.shipment_receipts
  referencing old table as old_rows for each statement execute function internal.shipment_receipts_fire_events();

create function internal.shipment_receipt_items_fire_events() returns trigger
language plpgsql
security definer set search_path = ''
as $$
declare
  items_of uuid[];
  changed record;
begin
  if tg_op = 'INSERT' then
    items_of := array(select distinct shipment_receipt_id from new_rows);
  elsif tg_op = 'DELETE' then
    items_of := array(select distinct shipment_receipt_id from old_rows);
  else
    items_of := array(
      select distinct unnest(array[before.shipment_receipt_id, after.shipment_receipt_id])
      from old_rows before
      join new_rows after using (id)
      where before is distinct from after
    );
  end if;
  select array_agg(r.business_id) as businesses, array_agg(r.id) as ids
  into changed
  from api.shipment_receipts r
  where r.id = any (items_of);
  perform internal.record_events('shipment_receipts', 'updated', changed.businesses, changed.ids);
  return null;
end
$$;

comment on function internal.shipment_receipt_items_fire_events is
  'Records shipment_receipt.updated for receipts whose items change.';

create trigger shipment_receipt_items_fire_events_on_insert after insert on api.shipment_receipt_items
  referencing new table as new_rows for each statement execute function internal.shipment_receipt_items_fire_events();
create trigger shipment_receipt_items_fire_events_on_update after update on api.shipment_receipt_items
  referencing old table as old_rows new table as new_rows
  for each statement execute function internal.shipment_receipt_items_fire_events();
create trigger shipment_receipt_items_fire_events_on_delete after delete on api.shipment_receipt_items
  referencing old table as old_rows for each statement execute function internal.shipment_receipt_items_fire_events();
--! EndIncluded webhooks/events/shipment_receipts_fire_events.sql
--! Included webhooks/delivery/event_payload.sql
-- The body of a delivery: {id, type, timestamp, business_id, sequence, data}. data is the object in full.
create function internal.event_payload(
  event_id uuid,
  action text,
  event_time timestamptz,
  business_id uuid,
  sequence bigint,
  data jsonb
) returns jsonb
language sql immutable
set search_path = ''
as $$
  select jsonb_build_object(
    'id', event_id, 'type', action, 'timestamp', to_jsonb(event_time), 'business_id', business_id, 'sequence', sequence,
    'data', data
  )
$$;

comment on function internal.event_payload is 'The body of a webhook delivery.';

-- The objects of a resource of one business in full, as they are now.
create function internal.objects_in_full(action text, objects uuid[]) returns table (id uuid, document jsonb)
language plpgsql stable
set search_path = ''
as $$
begin
  if starts_with(action, 'shipment_receipt.') then
    return query select r.id, r.document from internal.shipment_receipts_in_full(objects) r;
  else
    return query select s.id, s.document from internal.shipments_in_full(objects) s;
  end if;
end
$$;

comment on function internal.objects_in_full is 'The objects that an action is about, in full and as they are now.';
--! EndIncluded webhooks/delivery/event_payload.sql
--! Included webhooks/delivery/queue_deliveries.sql
-- One waiting job per configuration delivers what is due of it: a consumer that hangs holds back nobody else.
create function internal.queue_deliveries(configurations uuid[]) returns void
language sql
set search_path = ''
as $$
  select internal.add_job(
    'deliver_webhooks', jsonb_build_object('webhook_configuration_id', id), 'deliver_webhooks ' || id
  )
  from unnest(configurations) id
$$;

comment on function internal.queue_deliveries is 'Queues the job that delivers what is due of each configuration, at once.';

-- The job at the time of the next attempt has a key of its own: it never takes the place of one that is to run at once. One
-- after the other per configuration, so that the one who looks last has seen what the others recorded.
create function internal.queue_next_deliveries(configuration_id uuid) returns void
language plpgsql
set search_path = ''
as $$
declare
  next_time timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended('internal.queue_next_deliveries ' || configuration_id, 0));
  next_time := (
    select d.next_attempt_time
    from api.webhook_configurations c
    join api.webhook_deliveries d on d.business_id = c.business_id and d.webhook_configuration_id = c.id
    where c.id = configuration_id and c.is_enabled and d.next_attempt_time is not null
    order by d.next_attempt_time
    limit 1
  );
  if next_time is not null then
    perform internal.add_job(
      'deliver_webhooks', jsonb_build_object('webhook_configuration_id', configuration_id),
      'deliver_webhooks next ' || configuration_id, next_time
    );
  end if;
end
$$;

comment on function internal.queue_next_deliveries is
  'Queues the job that delivers what is due of a configuration, at the time when something is.';

-- The sweep. What a worker that died was sending for a configuration that has been disabled since is canceled.
create function internal.queue_due_deliveries() returns integer
language plpgsql
set search_path = ''
as $$
declare
  due uuid[] := array(
    select distinct d.webhook_configuration_id
    from api.webhook_deliveries d
    join api.webhook_configurations c on c.business_id = d.business_id and c.id = d.webhook_configuration_id
    where d.next_attempt_time <= now() and c.is_enabled
  );
begin
  update api.webhook_deliveries d set
    state = 'canceled', next_attempt_time = null, ended_time = now(), error = 'The configuration was disabled'
  from api.webhook_configurations c
  where c.business_id = d.business_id and c.id = d.webhook_configuration_id and not c.is_enabled
    and d.next_attempt_time <= now();
  perform internal.queue_deliveries(due);
  return cardinality(due);
end
$$;

comment on function internal.queue_due_deliveries is
  'Queues delivery of every configuration that has something due, also what a worker that died left; returns how many.';
--! EndIncluded webhooks/delivery/queue_deliveries.sql
--! Included webhooks/delivery/fire_events.sql
-- Fires events that are ready: each becomes one delivery per configuration subscribed to its action and is `sent`, in one
-- transaction. Several workers may do so at once: each holds the objects whose events it fires, by their sequences, and reads
-- state and events only then, so that a higher sequence never carries an older state. Goes by objects: with a transaction
-- given those that it changed, waiting for others that fire them, else at most `most` that nobody fires just now. Returns how
-- many events it fired, so that a caller goes on until it is 0, and the configurations that have something to deliver.
create view internal.webhook_events with (security_invoker = true) as
select 'shipment' as object_name, id, business_id, transaction_id, shipment_id as object_id, action, status,
  shipment_json as snapshot, creation_time
from api.shipment_webhooks
union all
select 'shipment_receipt', id, business_id, transaction_id, shipment_receipt_id, action, status,
  shipment_receipt_json, creation_time
from api.shipment_receipt_webhooks;

comment on view internal.webhook_events is 'The event records of shipments and of receipts together.';

create function internal.fire_events(
  only_transaction bigint default null,
  most integer default 500,
  out fired integer,
  out configurations uuid[]
)
language plpgsql
set search_path = ''
as $$
declare
  businesses uuid[];
  objects uuid[];
  taken uuid[];
begin
  fired := 0;
  if only_transaction is null then
    select array_agg(o.business_id), array_agg(o.object_id) into businesses, objects
    from (
      select e.business_id, e.object_id from internal.webhook_events e where e.status = 'ready' order by e.id limit most
    ) o;
  else
    select array_agg(e.business_id), array_agg(e.object_id) into businesses, objects
    from internal.webhook_events e
    where e.status = 'ready' and e.transaction_id = only_transaction;
  end if;
  if objects is null then
    return;
  end if;

  insert into internal.webhook_sequences (business_id, object_id, last_sequence)
  select distinct o.business_id, o.object_id, 0 from unnest(businesses, objects) o (business_id, object_id)
  order by 1, 2
  on conflict do nothing;

  if only_transaction is null then
    select array_agg(held.business_id), array_agg(held.object_id) into businesses, objects
    from (
      select s.business_id, s.object_id
      from internal.webhook_sequences s
      where (s.business_id, s.object_id) in (select * from unnest(businesses, objects))
      for update skip locked
    ) held;
  else
    perform from internal.webhook_sequences s
    where (s.business_id, s.object_id) in (select * from unnest(businesses, objects))
    order by s.business_id, s.object_id
    for update;
  end if;

  taken := array(
    select e.id
    from internal.webhook_events e
    where e.status = 'ready' and (e.business_id, e.object_id) in (select * from unnest(businesses, objects))
    order by e.id
    limit most
  );
  if taken = '{}' then
    return;
  end if;

  with event as materialized (
    select e.* from internal.webhook_events e where e.id = any (taken)
  ),
  counted as (
    update internal.webhook_sequences s set last_sequence = s.last_sequence + e.events
    from (select business_id, object_id, count(*) as events from event group by 1, 2) e
    where s.business_id = e.business_id and s.object_id = e.object_id
    returning s.business_id, s.object_id, s.last_sequence
  ),
  numbered as (
    select e.*,
      c.last_sequence - count(*) over (partition by e.business_id, e.object_id)
        + row_number() over (partition by e.business_id, e.object_id order by e.id) as sequence
    from event e
    join counted c using (business_id, object_id)
  ),
  current_state as materialized (
    select s.id, s.document
    from internal.shipments_in_full(array(select distinct object_id from event where object_name = 'shipment')) s
    union all
    select r.id, r.document
    from internal.shipment_receipts_in_full(
      array(select distinct object_id from event where object_name = 'shipment_receipt')) r
  ),
  composed as (
    select e.*, c.id as configuration_id, internal.event_payload(
      e.id, e.action, e.creation_time, e.business_id, e.sequence,
      coalesce(
        case when a.capture_snapshot then e.snapshot end,
        case when current_state.document ->> 'business_id' = e.business_id::text then current_state.document end,
        e.snapshot,
        jsonb_build_object('id', e.object_id, 'business_id', e.business_id)
      )
    ) as payload
    from numbered e
    join api.webhook_configuration_actions a on a.business_id = e.business_id and a.action = e.action
    join api.webhook_configurations c on c.business_id = a.business_id and c.id = a.webhook_configuration_id and c.is_enabled
    left join current_state on current_state.id = e.object_id
  ),
  delivered as (
    insert into api.webhook_deliveries (
      business_id, webhook_configuration_id, event_id, action, object_id, sequence, event_time, payload, payload_bytes
    )
    select business_id, configuration_id, id, action, object_id, sequence, creation_time,
      case when octet_length(payload::text) <= 300000 then payload end, octet_length(payload::text)
    from composed
    order by id, configuration_id
    returning webhook_configuration_id
  )
  select array_agg(distinct webhook_configuration_id) into configurations from delivered;

  update api.shipment_webhooks set status = 'sent' where id = any (taken);
  update api.shipment_receipt_webhooks set status = 'sent' where id = any (taken);
  perform internal.queue_deliveries(configurations);
  fired := cardinality(taken);
end
$$;

comment on function internal.fire_events is
  'Turns ready events into deliveries, one per subscribed configuration, and marks them sent; returns how many events.';
--! EndIncluded webhooks/delivery/fire_events.sql
--! Included webhooks/delivery/rebuilt_payload.sql
-- The body of a delivery that was too large to keep: from the snapshot of its event, else from the object as it is now.
create function internal.rebuilt_payload(delivery api.webhook_deliveries) returns jsonb
language sql stable
set search_path = ''
as $$
  select internal.event_payload(
    delivery.event_id, delivery.action, delivery.event_time, delivery.business_id, delivery.sequence,
    coalesce(
      (
        select e.snapshot from internal.webhook_events e
        where e.id = delivery.event_id and e.business_id = delivery.business_id
      ),
      (
        select o.document from internal.objects_in_full(delivery.action, array[delivery.object_id]) o
        where o.document ->> 'business_id' = delivery.business_id::text
      ),
      jsonb_build_object('id', delivery.object_id, 'business_id', delivery.business_id)
    )
  )
$$;

comment on function internal.rebuilt_payload is 'The body of a delivery that was not kept, built again from its event or its object.';
--! EndIncluded webhooks/delivery/rebuilt_payload.sql
--! Included webhooks/delivery/claim_deliveries.sql
-- First step of delivery: takes up to `most` due deliveries of a configuration for the time of a lease, and returns what to
-- send: the address, the body's text, the secrets that sign it (the current one first). Goes straight to the consumer when
-- this installation delivers or the body is over 300,000 bytes, else to the configuration's producer_url, which is told
-- the consumer. A body that was not kept for its size is built again from the event. Stops at 5 MB, so that what is taken
-- fits into memory.
create function internal.claim_deliveries(
  configuration_id uuid,
  most integer,
  lease interval default '60 s',
  at timestamptz default now()
) returns table (
  delivery_id uuid, lease_token bigint, event_id uuid, object_id uuid, url text, consumer_url text, body text, secrets text[]
)
language plpgsql
set search_path = ''
-- A claim that is lost in a crash of the server is made again: nothing waits for the disk.
set synchronous_commit = off
as $$
#variable_conflict use_column
declare
  configuration api.webhook_configurations;
begin
  select c.* into configuration from api.webhook_configurations c where c.id = configuration_id and c.is_enabled;
  return query
  with due as (
    select d.id, d.next_attempt_time, d.payload_bytes
    from api.webhook_deliveries d
    where d.business_id = configuration.business_id and d.webhook_configuration_id = configuration.id
      and d.next_attempt_time <= at
    order by d.next_attempt_time, d.id
    limit most
    for update skip locked
  ),
  measured as (
    select id, sum(payload_bytes) over (order by next_attempt_time, id) - payload_bytes as bytes_before from due
  ),
  claimed as (
    update api.webhook_deliveries d
    set state = 'sending', lease_token = d.lease_token + 1, next_attempt_time = at + lease
    from measured m
    where d.id = m.id and m.bytes_before < 5000000
    returning d.*
  )
  select
    d.id, d.lease_token, d.event_id, d.object_id,
    case when configuration.producer_url = internal.delivery_address() or d.payload_bytes > 300000
      then configuration.hook_consumer_url else configuration.producer_url end,
    case when configuration.producer_url <> internal.delivery_address() and d.payload_bytes <= 300000
      then configuration.hook_consumer_url end,
    coalesce(d.payload, internal.rebuilt_payload(d))::text,
    array(
      select s.secret from internal.webhook_secrets s
      where s.business_id = configuration.business_id and s.webhook_configuration_id = configuration.id
        and (s.expires_time is null or s.expires_time > at)
      order by s.expires_time desc nulls first
    )
  from claimed d
  order by d.sequence, d.id;
end
$$;

comment on function internal.claim_deliveries is 'Claims due deliveries of a configuration under a lease and returns what to send.';

-- What was claimed and not sent, because the worker stops or had no time for it, is due again. A token that was superseded
-- gives back nothing.
create function internal.release_deliveries(deliveries uuid[], lease_tokens bigint[]) returns void
language sql
set search_path = ''
as $$
  update api.webhook_deliveries d set state = 'pending', next_attempt_time = now()
  from unnest(deliveries, lease_tokens) held (id, lease_token)
  where d.id = held.id and d.lease_token = held.lease_token and d.state = 'sending'
$$;

comment on function internal.release_deliveries is 'Gives back deliveries that were claimed and not sent: they are due at once.';
--! EndIncluded webhooks/delivery/claim_deliveries.sql
--! Included webhooks/delivery/webhook_failures.sql
-- Since when a configuration has only failed; no row while it works. After five days it is disabled.
create table internal.webhook_failures (
  business_id uuid not null,
  webhook_configuration_id uuid not null,
  failing_since timestamptz not null,
  primary key (business_id, webhook_configuration_id),
  foreign key (business_id, webhook_configuration_id) references api.webhook_configurations (business_id, id)
    on delete cascade
);

comment on table internal.webhook_failures is 'Configurations whose deliveries have failed without a success since.';

alter table internal.webhook_failures replica identity using index webhook_failures_pkey;
alter table internal.webhook_failures enable row level security, force row level security;
create policy every_business on internal.webhook_failures to current_user using (true);
--! EndIncluded webhooks/delivery/webhook_failures.sql
--! Included webhooks/delivery/retry_delay.sql
-- How long after its nth failed attempt a delivery is tried again; null when it was the last.
-- Each is spread by ±20 %: `chance` is a number from 0 to 1.
create function internal.retry_delay(failed_attempts integer, chance double precision) returns interval
language sql immutable
set search_path = ''
as $$
  select (array['5 s', '5 min', '30 min', '2 h', '5 h', '10 h', '14 h', '20 h', '24 h']::interval[])[failed_attempts]
    * (0.8 + 0.4 * chance)
$$;

comment on function internal.retry_delay is 'The retry schedule: the delay after the nth failed attempt, ±20 %; null after the last.';
--! EndIncluded webhooks/delivery/retry_delay.sql
--! Included webhooks/delivery/record_attempt.sql
-- Last step of delivery, with what came of the attempt:
--   2xx                       delivered
--   410                       failed, and the configuration is disabled
--   anything else             tried again on the schedule, not before Retry-After; failed after the last. A configuration
--                             that has only failed for five days is disabled
-- What failed for a configuration that is disabled by then is not tried again: canceled.
-- A lease token that was superseded records nothing. Returns the delivery's state, null when nothing was recorded.
create function internal.record_attempt(
  delivery_id uuid,
  lease_token bigint,
  attempt jsonb,
  at timestamptz default now()
) returns text
language plpgsql
set search_path = ''
as $$
declare
  delivery api.webhook_deliveries;
  status constant integer := (attempt ->> 'response_status')::integer;
  retry_after constant interval := case
    when attempt ->> 'retry_after_seconds' is not null
      then make_interval(secs => least((attempt ->> 'retry_after_seconds')::double precision, 86400))
  end;
  is_enabled boolean;
  since timestamptz;
begin
  select d.* into delivery
  from api.webhook_deliveries d
  where d.id = record_attempt.delivery_id and d.lease_token = record_attempt.lease_token and d.state = 'sending'
  for update;
  if not found then
    return null;
  end if;

  insert into api.webhook_delivery_attempts (
    business_id, webhook_delivery_id, attempt_number, attempt_time, request_url, request_headers,
    response_status, response_headers, response_body, duration_ms, error
  )
  values (
    delivery.business_id, delivery.id, delivery.attempt_count + 1,
    at - make_interval(secs => (attempt ->> 'duration_ms')::double precision / 1000), attempt ->> 'request_url',
    coalesce(nullif(attempt -> 'request_headers', 'null'), '{}'), status, nullif(attempt -> 'response_headers', 'null'),
    attempt ->> 'response_body', (attempt ->> 'duration_ms')::integer, attempt ->> 'error'
  );

  is_enabled := (
    select c.is_enabled from api.webhook_configurations c
    where c.business_id = delivery.business_id and c.id = delivery.webhook_configuration_id
  );
  delivery.attempt_count := delivery.attempt_count + 1;
  delivery.next_attempt_time := case
    when status between 200 and 299 or status = 410 then null
    else at + greatest(internal.retry_delay(delivery.attempt_count, random()), retry_after)
  end;
  if not is_enabled or internal.retry_delay(delivery.attempt_count, 0) is null then
    delivery.next_attempt_time := null;
  end if;
  update api.webhook_deliveries d set
    state = case
      when status between 200 and 299 then 'delivered'
      when not is_enabled then 'canceled'
      when delivery.next_attempt_time is null then 'failed'
      else 'pending'
    end::api.webhook_delivery_state,
    attempt_count = delivery.attempt_count,
    next_attempt_time = delivery.next_attempt_time,
    ended_time = case when delivery.next_attempt_time is null then at end,
    response_status = status,
    duration_ms = (attempt ->> 'duration_ms')::integer,
    error = attempt ->> 'error'
  where d.id = delivery.id
  returning d.state into delivery.state;

  if delivery.is_test then
    null;
  elsif delivery.state = 'delivered' then
    delete from internal.webhook_failures f
    where f.business_id = delivery.business_id and f.webhook_configuration_id = delivery.webhook_configuration_id;
  else
    insert into internal.webhook_failures as f (business_id, webhook_configuration_id, failing_since)
    values (delivery.business_id, delivery.webhook_configuration_id, at)
    on conflict on constraint webhook_failures_pkey do update set failing_since = f.failing_since
    returning f.failing_since into since;
    update api.webhook_configurations c set
      is_enabled = false,
      disabled_time = at,
      disabled_reason = case when status = 410 then 'The consumer answered 410 Gone'
        else 'Every delivery has failed for five days' end
    where c.business_id = delivery.business_id and c.id = delivery.webhook_configuration_id and c.is_enabled
      and (status = 410 or at - since >= interval '5 days');
  end if;
  return delivery.state;
end
$$;

comment on function internal.record_attempt is
  'Records an attempt at a delivery and what follows from it: delivered, tried again, failed, or the configuration disabled.';

-- Attempts of several deliveries of one configuration: those that delivered at one stroke, the others one by one.
create function internal.record_attempts(deliveries uuid[], lease_tokens bigint[], attempts jsonb[]) returns void
language plpgsql
set search_path = ''
as $$
begin
  with held as materialized (
    select d.id, d.business_id, d.webhook_configuration_id, d.is_test, d.attempt_count, a.*
    from unnest(deliveries, lease_tokens, attempts) g (id, lease_token, attempt)
    cross join lateral jsonb_to_record(g.attempt) a (
      request_url text, request_headers jsonb, response_status integer, response_headers jsonb, response_body text,
      duration_ms integer
    )
    join api.webhook_deliveries d on d.id = g.id and d.lease_token = g.lease_token and d.state = 'sending'
    where a.response_status between 200 and 299
    for update of d
  ),
  recorded as (
    insert into api.webhook_delivery_attempts (
      business_id, webhook_delivery_id, attempt_number, attempt_time, request_url, request_headers,
      response_status, response_headers, response_body, duration_ms
    )
    select business_id, id, attempt_count + 1, now() - make_interval(secs => duration_ms / 1000.0), request_url,
      coalesce(request_headers, '{}'), response_status, response_headers, response_body, duration_ms
    from held
  ),
  ended as (
    update api.webhook_deliveries d set
      state = 'delivered', attempt_count = held.attempt_count + 1, next_attempt_time = null, ended_time = now(),
      response_status = held.response_status, duration_ms = held.duration_ms, error = null
    from held
    where d.id = held.id
  )
  delete from internal.webhook_failures f
  using (select distinct business_id, webhook_configuration_id from held where not is_test) worked
  where f.business_id = worked.business_id and f.webhook_configuration_id = worked.webhook_configuration_id;

  perform internal.record_attempt(g.id, g.lease_token, g.attempt)
  from unnest(deliveries, lease_tokens, attempts) g (id, lease_token, attempt)
  where (g.attempt ->> 'response_status')::integer between 200 and 299 is not true;
end
$$;

comment on function internal.record_attempts is 'Records attempts at deliveries of one configuration.';
--! EndIncluded webhooks/delivery/record_attempt.sql
--! Included webhooks/delivery/disabled_configurations_deliver_nothing.sql
-- A configuration that is disabled delivers nothing: what waits is canceled and can be replayed; what is under way ends with
-- its attempt. Enabled again it has a clean slate.
create function internal.enabled_configuration_has_no_reason() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if new.is_enabled then
    new.disabled_reason := null;
    new.disabled_time := null;
  else
    new.disabled_time := coalesce(new.disabled_time, now());
  end if;
  return new;
end
$$;

comment on function internal.enabled_configuration_has_no_reason is
  'Keeps disabled_time and disabled_reason of a configuration in line with is_enabled.';

create trigger enabled_configuration_has_no_reason before update on api.webhook_configurations for each row
  when (old.is_enabled <> new.is_enabled) execute function internal.enabled_configuration_has_no_reason();

create function internal.disabled_configurations_deliver_nothing() returns trigger
language plpgsql
security definer set search_path = ''
as $$
begin
  if new.is_enabled then
    delete from internal.webhook_failures f
    where f.business_id = new.business_id and f.webhook_configuration_id = new.id;
  else
    update api.webhook_deliveries d set
      state = 'canceled', next_attempt_time = null, ended_time = now(), error = 'The configuration was disabled'
    where d.business_id = new.business_id and d.webhook_configuration_id = new.id
      and d.next_attempt_time is not null and d.state = 'pending';
  end if;
  return null;
end
$$;

comment on function internal.disabled_configurations_deliver_nothing is
  'Cancels what waits for a configuration that is disabled, and forgets the failures of one that is enabled.';

create trigger disabled_configurations_deliver_nothing after update on api.webhook_configurations for each row
  when (old.is_enabled <> new.is_enabled) execute function internal.disabled_configurations_deliver_nothing();
--! EndIncluded webhooks/delivery/disabled_configurations_deliver_nothing.sql
--! Included webhooks/delivery/delete_old_deliveries.sql
-- Deliveries are kept for a time and then deleted with their attempts, oldest first, a batch per call so that no
-- transaction grows long. What has not ended is kept. Returns how many were deleted.
create function internal.delete_old_deliveries(kept_days integer, most integer default 1000) returns integer
language plpgsql
set search_path = ''
as $$
declare
  deleted integer;
begin
  delete from api.webhook_deliveries
  where id in (
    select id from api.webhook_deliveries
    where creation_time < now() - make_interval(days => kept_days) and ended_time is not null
    order by id
    limit most
    for update skip locked
  );
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

comment on function internal.delete_old_deliveries is 'Deletes a batch of ended deliveries older than so many days; returns how many.';
--! EndIncluded webhooks/delivery/delete_old_deliveries.sql
--! Included webhooks/delivery/own_configuration.sql
-- A webhook configuration that an RPC names must be one that the caller may act for (404).
create function internal.own_configuration(configuration_id uuid) returns api.webhook_configurations
language plpgsql stable
security definer set search_path = ''
as $$
declare
  found_configuration api.webhook_configurations;
begin
  select c.* into found_configuration
  from api.webhook_configurations c
  where c.id = configuration_id
    and (c.business_id = internal.business_id() or internal.caller_role() is distinct from 'business');
  if not found then
    perform internal.refuse(404, format('webhook_configuration_id: no webhook configuration "%s"', configuration_id));
  end if;
  return found_configuration;
end
$$;

comment on function internal.own_configuration is
  'A webhook configuration that the caller may act for. Refuses (404) any other: the caller cannot tell which.';
--! EndIncluded webhooks/delivery/own_configuration.sql
--! Included webhooks/delivery/replay_webhook_deliveries.sql
-- Replays: a new delivery of the same event, with the same body and webhook-id, sent at once.
create function internal.replay(deliveries uuid[]) returns integer
language plpgsql
set search_path = ''
as $$
declare
  configurations uuid[];
  replayed integer;
begin
  with again as (
    insert into api.webhook_deliveries (
      business_id, webhook_configuration_id, event_id, action, object_id, sequence, event_time, is_test, replay_of,
      payload, payload_bytes
    )
    select business_id, webhook_configuration_id, event_id, action, object_id, sequence, event_time, is_test, id,
      payload, payload_bytes
    from api.webhook_deliveries
    where id = any (deliveries)
    order by sequence, id
    returning webhook_configuration_id
  )
  select array_agg(distinct webhook_configuration_id), count(*) into configurations, replayed from again;
  perform internal.queue_deliveries(configurations);
  return replayed;
end
$$;

comment on function internal.replay is 'Delivers the events of deliveries again, as new deliveries; returns how many.';

create function api.replay_webhook_delivery(id uuid) returns jsonb
language plpgsql
security definer set search_path = ''
as $$
declare
  delivery api.webhook_deliveries;
begin
  select d.* into delivery
  from api.webhook_deliveries d
  where d.id = replay_webhook_delivery.id
    and (d.business_id = internal.business_id() or internal.caller_role() is distinct from 'business');
  if not found then
    perform internal.refuse(404, format('id: no webhook delivery "%s"', id));
  elsif not (internal.own_configuration(delivery.webhook_configuration_id)).is_enabled then
    perform internal.refuse(409, 'The webhook configuration is disabled: enable it first');
  end if;
  return jsonb_build_object('count', internal.replay(array[delivery.id]));
end
$$;

comment on function api.replay_webhook_delivery is
  'Delivers the event of a delivery again, with the same body and webhook-id: {id} gives {count}. 404 when there is no such delivery, 409 when its configuration is disabled.';

grant execute on function api.replay_webhook_delivery to business, operator;

-- Events of a configuration in a time: `failed` those of which no delivery succeeded, `missing` those that it is subscribed
-- to and was never sent, `all` every one that it was or should have been sent. dry_run only counts.
create function api.replay_webhook_deliveries(
  webhook_configuration_id uuid,
  since timestamptz,
  until timestamptz default null,
  "only" text default 'all',
  dry_run boolean default false
) returns jsonb
language plpgsql
security definer set search_path = ''
as $$
declare
  configuration constant api.webhook_configurations := internal.own_configuration(webhook_configuration_id);
  until_time constant timestamptz := coalesce(until, now());
  kind constant text := "only";
  sent uuid[] := '{}';
  missing uuid[] := '{}';
begin
  if kind is null or kind not in ('failed', 'missing', 'all') then
    perform internal.refuse_input('only: must be failed, missing or all');
  elsif since is null then
    perform internal.refuse_input('since: is required');
  elsif not configuration.is_enabled then
    perform internal.refuse(409, 'The webhook configuration is disabled: enable it first');
  end if;

  if kind in ('failed', 'all') then
    sent := array(
      select (array_agg(d.id order by d.id desc))[1]
      from api.webhook_deliveries d
      where d.business_id = configuration.business_id and d.webhook_configuration_id = configuration.id
        and d.event_time >= since and d.event_time <= until_time and not d.is_test
      group by d.event_id
      having kind = 'all' and bool_and(d.ended_time is not null)
        or kind = 'failed' and bool_and(d.state in ('failed', 'canceled'))
    );
  end if;
  if kind in ('missing', 'all') then
    missing := array(
      select e.id
      from internal.webhook_events e
      join api.webhook_configuration_actions a
        on a.business_id = e.business_id and a.webhook_configuration_id = configuration.id and a.action = e.action
      where e.business_id = configuration.business_id and e.status = 'sent'
        and e.creation_time >= since and e.creation_time <= until_time
        and not exists (
          select from api.webhook_deliveries d
          where d.business_id = e.business_id and d.event_id = e.id and d.webhook_configuration_id = configuration.id
        )
    );
  end if;

  if not coalesce(dry_run, false) then
    perform internal.replay(sent);
    perform internal.deliver_missing(configuration, missing);
  end if;
  return jsonb_build_object('count', cardinality(sent) + cardinality(missing));
end
$$;

comment on function api.replay_webhook_deliveries is
  'Delivers events of a configuration again: {webhook_configuration_id, since, until, only: failed | missing | all, dry_run} gives {count}. '
  'failed: no delivery of the event succeeded; missing: it was never sent one that it is subscribed to; all: both and what succeeded. dry_run only counts. '
  '404 when there is no such configuration, 409 when it is disabled.';

grant execute on function api.replay_webhook_deliveries to business, operator;

create function internal.deliver_missing(configuration api.webhook_configurations, events uuid[]) returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into api.webhook_deliveries (
    business_id, webhook_configuration_id, event_id, action, object_id, sequence, event_time, payload, payload_bytes
  )
  select composed.business_id, configuration.id, composed.id, composed.action, composed.object_id, composed.sequence, composed.creation_time,
    case when octet_length(payload::text) <= 300000 then payload end, octet_length(payload::text)
  from (
    select e.*, s.sequence, internal.event_payload(
      e.id, e.action, e.creation_time, e.business_id, s.sequence,
      coalesce(
        e.snapshot,
        (
          select o.document from internal.objects_in_full(e.action, array[e.object_id]) o
          where o.document ->> 'business_id' = e.business_id::text
        ),
        jsonb_build_object('id', e.object_id, 'business_id', e.business_id)
      )
    ) as payload
    from internal.webhook_events e
    cross join lateral (
      select coalesce(
        (select max(d.sequence) from api.webhook_deliveries d where d.business_id = e.business_id and d.event_id = e.id),
        (select q.last_sequence from internal.webhook_sequences q where q.business_id = e.business_id and q.object_id = e.object_id),
        0
      ) as sequence
    ) s
    where e.id = any (events)
  ) composed
  order by composed.id;
  if events <> '{}' then
    perform internal.queue_deliveries(array[configuration.id]);
  end if;
end
$$;

comment on function internal.deliver_missing is 'Delivers events to a configuration that was never sent them.';
--! EndIncluded webhooks/delivery/replay_webhook_deliveries.sql
--! Included webhooks/delivery/send_test_webhook.sql
-- A test event: what the configuration would be sent for its latest object of the action's kind, marked as a test.
create function api.send_test_webhook(webhook_configuration_id uuid, action text) returns jsonb
language plpgsql
security definer set search_path = ''
as $$
declare
  configuration constant api.webhook_configurations := internal.own_configuration(webhook_configuration_id);
  latest uuid;
  event_id constant uuid := uuidv7();
  payload jsonb;
begin
  if not exists (select from api.webhook_actions a where a.action = send_test_webhook.action) then
    perform internal.refuse_input(format('action: no webhook action "%s"', action));
  elsif not configuration.is_enabled then
    perform internal.refuse(409, 'The webhook configuration is disabled: enable it first');
  end if;

  if starts_with(action, 'shipment_receipt.') then
    latest := (
      select r.id from api.shipment_receipts r where r.business_id = configuration.business_id order by r.id desc limit 1
    );
  else
    latest := (select s.id from api.shipments s where s.business_id = configuration.business_id order by s.id desc limit 1);
  end if;
  payload := internal.event_payload(
    event_id, action, now(), configuration.business_id, 0,
    coalesce(
      (select o.document from internal.objects_in_full(action, array[latest]) o),
      jsonb_build_object('id', event_id, 'business_id', configuration.business_id)
    )
  );
  insert into api.webhook_deliveries (
    business_id, webhook_configuration_id, event_id, action, object_id, sequence, event_time, is_test, payload, payload_bytes
  )
  values (
    configuration.business_id, configuration.id, event_id, action, coalesce(latest, event_id), 0, now(), true,
    case when octet_length(payload::text) <= 300000 then payload end, octet_length(payload::text)
  );
  perform internal.queue_deliveries(array[configuration.id]);
  return jsonb_build_object('count', 1);
end
$$;

comment on function api.send_test_webhook is
  'Sends a configuration a test event of an action: {webhook_configuration_id, action} gives {count: 1}. Its data is the latest object of that kind.';

grant execute on function api.send_test_webhook to business, operator;
--! EndIncluded webhooks/delivery/send_test_webhook.sql
--! Included webhooks/delivery/rotate_webhook_secret.sql
-- A new secret signs from now on; the former one signs too for 24 hours, so that consumers can change over.
create function api.rotate_webhook_secret(webhook_configuration_id uuid) returns jsonb
language plpgsql
security definer set search_path = ''
as $$
declare
  configuration constant api.webhook_configurations := internal.own_configuration(webhook_configuration_id);
  new_secret text;
begin
  update internal.webhook_secrets s set expires_time = now() + interval '24 hours'
  where s.business_id = configuration.business_id and s.webhook_configuration_id = configuration.id and s.expires_time is null;
  insert into internal.webhook_secrets (business_id, webhook_configuration_id)
  values (configuration.business_id, configuration.id)
  returning secret into new_secret;
  return jsonb_build_object('secret', new_secret);
end
$$;

comment on function api.rotate_webhook_secret is
  'Gives a configuration a new signing secret: {webhook_configuration_id} gives {secret}, shown only here and in the portal. The former one signs too for 24 hours.';

grant execute on function api.rotate_webhook_secret to business, operator;
--! EndIncluded webhooks/delivery/rotate_webhook_secret.sql
--! Included webhooks/portal/portal_links.sql
-- Magic links to the delivery portal, and the sessions that browsers have through them. Only hashes of their tokens are
-- kept. A link lasts seven days; its sessions end with it.
create table internal.portal_links (
  id uuid primary key default uuidv7(),
  business_id uuid not null references api.businesses on delete cascade,
  token_hash bytea not null unique,
  creation_time timestamptz not null default now(),
  expires_time timestamptz not null,
  revoked_time timestamptz,
  unique (business_id, id)
);

comment on table internal.portal_links is 'Magic links to the delivery portal, by the SHA-256 of their tokens.';

alter table internal.portal_links replica identity using index portal_links_business_id_id_key;
alter table internal.portal_links enable row level security, force row level security;
create policy every_business on internal.portal_links to current_user using (true);

create table internal.portal_sessions (
  id uuid primary key default uuidv7(),
  business_id uuid not null,
  portal_link_id uuid not null,
  token_hash bytea not null unique,
  creation_time timestamptz not null default now(),
  ended_time timestamptz,
  unique (business_id, id),
  foreign key (business_id, portal_link_id) references internal.portal_links (business_id, id) on delete cascade
);

create index on internal.portal_sessions (business_id, portal_link_id);

comment on table internal.portal_sessions is 'Sessions of browsers in the delivery portal, by the SHA-256 of their tokens.';

alter table internal.portal_sessions replica identity using index portal_sessions_business_id_id_key;
alter table internal.portal_sessions enable row level security, force row level security;
create policy every_business on internal.portal_sessions to current_user using (true);
--! EndIncluded webhooks/portal/portal_links.sql
--! Included webhooks/portal/create_webhook_portal_magic_link.sql
-- The way into the portal: whoever has the link sees and replays the deliveries of the business for seven days. Links that
-- have expired go with their sessions when a new one is made.
create function internal.new_token() returns text
language sql
set search_path = ''
as $$
  select internal.base64url(internal.gen_random_bytes(32))
$$;

comment on function internal.new_token is 'A new random token of 256 bits, as base64url.';

create function api.create_webhook_portal_magic_link(business_id uuid) returns jsonb
language plpgsql
security definer set search_path = ''
as $$
declare
  token constant text := internal.new_token();
  link internal.portal_links;
begin
  perform internal.require_business(business_id);
  delete from internal.portal_links l
  where l.business_id = create_webhook_portal_magic_link.business_id and l.expires_time < now();
  insert into internal.portal_links (business_id, token_hash, expires_time)
  values (create_webhook_portal_magic_link.business_id, sha256(convert_to(token, 'UTF8')), now() + interval '7 days')
  returning * into link;
  return jsonb_build_object(
    'url', internal.setting('public_url') || '/portal/open?token=' || token,
    'expires_time', link.expires_time
  );
end
$$;

comment on function api.create_webhook_portal_magic_link is
  'Makes a link to the portal that shows and replays webhook deliveries: {business_id} gives {url, expires_time}. Valid for 7 days.';

grant execute on function api.create_webhook_portal_magic_link to business, operator;

create function api.revoke_webhook_portal_magic_links(business_id uuid) returns jsonb
language plpgsql
security definer set search_path = ''
as $$
declare
  revoked integer;
begin
  perform internal.require_business(business_id);
  update internal.portal_links l set revoked_time = now()
  where l.business_id = revoke_webhook_portal_magic_links.business_id and l.revoked_time is null and l.expires_time > now();
  get diagnostics revoked = row_count;
  return jsonb_build_object('count', revoked);
end
$$;

comment on function api.revoke_webhook_portal_magic_links is
  'Ends all portal links of a business and the sessions opened through them, at once: {business_id} gives {count}.';

grant execute on function api.revoke_webhook_portal_magic_links to business, operator;
--! EndIncluded webhooks/portal/create_webhook_portal_magic_link.sql
--! Included webhooks/portal/portal_sessions.sql
-- Opens a session through a magic link and returns its token; null when the link is unknown, expired or revoked.
create function internal.open_portal_session(link_token text) returns text
language plpgsql
security definer set search_path = ''
as $$
declare
  token constant text := internal.new_token();
begin
  insert into internal.portal_sessions (business_id, portal_link_id, token_hash)
  select l.business_id, l.id, sha256(convert_to(token, 'UTF8'))
  from internal.portal_links l
  where l.token_hash = sha256(convert_to(link_token, 'UTF8')) and l.revoked_time is null and l.expires_time > now();
  return case when found then token end;
end
$$;

comment on function internal.open_portal_session is 'Opens a portal session through a magic link and returns its token; null when the link is not valid.';

grant execute on function internal.open_portal_session to authenticator;

-- Lets this transaction act for the business of a session, as its role `business`, and returns the business; null when the
-- session is not valid any more.
create function internal.enter_portal(session_token text) returns uuid
language plpgsql
security definer set search_path = ''
as $$
declare
  session_business uuid;
begin
  select s.business_id into session_business
  from internal.portal_sessions s
  join internal.portal_links l on l.business_id = s.business_id and l.id = s.portal_link_id
  where s.token_hash = sha256(convert_to(session_token, 'UTF8')) and s.ended_time is null
    and l.revoked_time is null and l.expires_time > now();
  if found then
    perform internal.act_as('business', session_business);
  end if;
  return session_business;
end
$$;

comment on function internal.enter_portal is
  'Makes this transaction act for the business of a portal session and returns that business; null when the session is not valid.';

grant execute on function internal.enter_portal to authenticator;

create function internal.end_portal_session(session_token text) returns void
language sql
security definer set search_path = ''
as $$
  update internal.portal_sessions set ended_time = now() where token_hash = sha256(convert_to(session_token, 'UTF8'))
$$;

comment on function internal.end_portal_session is 'Ends a portal session.';

grant execute on function internal.end_portal_session to authenticator;

-- The secret that signs the deliveries of a configuration, for the portal: an RPC never shows it but when it is made.
create function internal.reveal_webhook_secret(configuration_id uuid) returns text
language sql stable
security definer set search_path = ''
as $$
  select s.secret
  from internal.webhook_secrets s
  where s.webhook_configuration_id = (internal.own_configuration(configuration_id)).id and s.expires_time is null
$$;

comment on function internal.reveal_webhook_secret is 'The current signing secret of a configuration of the caller''s business. Refuses (404) any other.';

grant execute on function internal.reveal_webhook_secret to business;
--! EndIncluded webhooks/portal/portal_sessions.sql
--! Included webhooks/portal/first_id_at.sql
-- Ids are made in the order of time (UUID version 7): the lowest that one made at an instant can have. With it a search by
-- time uses the index of ids.
create function internal.first_id_at(instant timestamptz) returns uuid
language sql immutable strict
set search_path = ''
as $$
  select (
    lpad(to_hex(greatest(0, least(281474976710655, floor(extract(epoch from instant) * 1000)))::bigint), 12, '0')
    || '70008000000000000000'
  )::uuid
$$;

comment on function internal.first_id_at is 'The lowest id that a record made at an instant can have.';

grant execute on function internal.first_id_at to business;
--! EndIncluded webhooks/portal/first_id_at.sql
--! Included webhooks/portal/webhook_delivery_statistics.sql
-- Deliveries of the caller's business that fired in a time, by hour (UTC) and, in the row without an hour, in all: how many
-- there are in each state, and how long consumers took to answer. Tests do not count.
create function internal.webhook_delivery_statistics(since timestamptz, until timestamptz default now())
returns table (
  hour timestamptz, delivered integer, failed integer, canceled integer, waiting integer, p50_ms integer, p95_ms integer
)
language sql stable
set search_path = ''
as $$
  select
    date_bin('1 hour', d.creation_time, 'epoch') as hour,
    (count(*) filter (where d.state = 'delivered'))::integer,
    (count(*) filter (where d.state = 'failed'))::integer,
    (count(*) filter (where d.state = 'canceled'))::integer,
    (count(*) filter (where d.state in ('pending', 'sending')))::integer,
    percentile_disc(0.50) within group (order by d.duration_ms),
    percentile_disc(0.95) within group (order by d.duration_ms)
  from api.webhook_deliveries d
  where d.id >= internal.first_id_at(since - interval '1 hour') and d.creation_time >= since and d.creation_time < until
    and not d.is_test
  group by grouping sets ((1), ())
  order by 1
$$;

comment on function internal.webhook_delivery_statistics is
  'Deliveries per hour and in all by state, with the median and the 95th percentile of the time that consumers took.';

grant execute on function internal.webhook_delivery_statistics to business;
--! EndIncluded webhooks/portal/webhook_delivery_statistics.sql
--! Included webhooks/portal/webhook_configurations_health.sql
-- How each webhook configuration of the caller's business fares: since when it has only failed (null while it works), what
-- became of its deliveries that fired since a time, and what waits. Tests do not count.
create function internal.webhook_configurations_health(since timestamptz)
returns table (
  webhook_configuration_id uuid, failing_since timestamptz, delivered integer, failed integer, waiting integer,
  last_delivered_time timestamptz
)
language sql stable
security definer set search_path = ''
as $$
  select c.id, f.failing_since, recent.delivered, recent.failed, queue.waiting, recent.last_delivered_time
  from api.webhook_configurations c
  left join internal.webhook_failures f on f.business_id = c.business_id and f.webhook_configuration_id = c.id
  cross join lateral (
    select
      count(*) filter (where d.state = 'delivered')::integer as delivered,
      count(*) filter (where d.state = 'failed')::integer as failed,
      max(d.ended_time) filter (where d.state = 'delivered') as last_delivered_time
    from api.webhook_deliveries d
    where d.business_id = c.business_id and d.webhook_configuration_id = c.id
      and d.id >= internal.first_id_at(since - interval '1 hour') and d.creation_time >= since and not d.is_test
  ) recent
  cross join lateral (
    select count(*)::integer as waiting
    from api.webhook_deliveries d
    where d.business_id = c.business_id and d.webhook_configuration_id = c.id and d.next_attempt_time is not null
      and not d.is_test
  ) queue
  where c.business_id = internal.business_id()
$$;

comment on function internal.webhook_configurations_health is
  'Since when each configuration of the caller''s business has only failed, and its deliveries since a time.';

grant execute on function internal.webhook_configurations_health to business;
--! EndIncluded webhooks/portal/webhook_configurations_health.sql
--! Included webhooks/portal/webhook_deliveries_page.sql
-- One page of the deliveries that the caller may see, newest first. Filters that are null do not count; since and until
-- are about the time of firing. A page goes on below the id `before` or, back towards now, above the id `after`: then it
-- holds those nearest to `after`, still newest first.
create function internal.webhook_deliveries_page(
  only_configuration uuid default null,
  only_action text default null,
  only_state text default null,
  only_object uuid default null,
  since timestamptz default null,
  until timestamptz default null,
  before uuid default null,
  after uuid default null,
  most integer default 50
) returns table (
  id uuid, webhook_configuration_id uuid, configuration_name text, hook_consumer_url text, action text, object_id uuid,
  event_id uuid, is_test boolean, replay_of uuid, state text, attempt_count integer, next_attempt_time timestamptz,
  response_status integer, duration_ms integer, error text, creation_time timestamptz
)
language plpgsql stable
set search_path = ''
as $$
declare
  conditions constant text := concat_ws(' and ', 'true',
    case when only_configuration is not null then 'd.webhook_configuration_id = $1' end,
    case when only_action is not null then 'd.action = $2' end,
    case when only_state is not null then 'd.state = $3::api.webhook_delivery_state' end,
    case when only_object is not null then 'd.object_id = $4' end,
    case when since is not null then 'd.id >= internal.first_id_at($5 - interval ''1 hour'') and d.creation_time >= $5' end,
    case when until is not null then 'd.id < internal.first_id_at($6 + interval ''1 hour'') and d.creation_time < $6' end,
    case when before is not null then 'd.id < $7' end,
    case when after is not null then 'd.id > $8' end
  );
begin
  return query execute format(
    $sql$
      select d.id, d.webhook_configuration_id, c.name, c.hook_consumer_url, d.action, d.object_id, d.event_id, d.is_test,
        d.replay_of, d.state::text, d.attempt_count, d.next_attempt_time, d.response_status, d.duration_ms, d.error,
        d.creation_time
      from (select d.* from api.webhook_deliveries d where %s order by d.id %s limit $9) d
      join api.webhook_configurations c on c.business_id = d.business_id and c.id = d.webhook_configuration_id
      order by d.id desc
    $sql$,
    conditions, case when after is null then 'desc' else 'asc' end
  )
  using only_configuration, only_action, only_state, only_object, since, until, before, after, most;
end
$$;

comment on function internal.webhook_deliveries_page is 'A page of webhook deliveries, newest first, by filters and from an id on.';

grant execute on function internal.webhook_deliveries_page to business;
--! EndIncluded webhooks/portal/webhook_deliveries_page.sql
--! Included webhooks/portal/save_webhook_configuration.sql
-- Creates (without an id) or changes a webhook configuration of the caller's business together with its subscriptions, which
-- become exactly those given: [{action, capture_snapshot}]. Returns its id; null when there is no such configuration.
create function internal.save_webhook_configuration(
  configuration_id uuid,
  name text,
  hook_consumer_url text,
  is_immediate boolean,
  subscriptions jsonb
) returns uuid
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  saved_id uuid;
begin
  if configuration_id is null then
    insert into api.webhook_configurations as c (business_id, name, hook_consumer_url, is_immediate)
    values (
      internal.business_id(), save_webhook_configuration.name, save_webhook_configuration.hook_consumer_url,
      save_webhook_configuration.is_immediate
    )
    returning c.id into saved_id;
  else
    update api.webhook_configurations c set
      name = save_webhook_configuration.name,
      hook_consumer_url = save_webhook_configuration.hook_consumer_url,
      is_immediate = save_webhook_configuration.is_immediate
    where c.id = configuration_id
    returning c.id into saved_id;
    if saved_id is null then
      return null;
    end if;
  end if;

  delete from api.webhook_configuration_actions a
  where a.webhook_configuration_id = saved_id and not subscriptions @> jsonb_build_array(jsonb_build_object('action', a.action));

  insert into api.webhook_configuration_actions as a (business_id, webhook_configuration_id, action, capture_snapshot)
  select internal.business_id(), saved_id, s.action, s.capture_snapshot
  from jsonb_to_recordset(subscriptions) as s (action text, capture_snapshot boolean)
  on conflict (business_id, webhook_configuration_id, action) do update set capture_snapshot = excluded.capture_snapshot
  where a.capture_snapshot <> excluded.capture_snapshot;
  return saved_id;
end
$$;

comment on function internal.save_webhook_configuration is
  'Creates or changes a webhook configuration and what it is subscribed to; returns its id, null when there is none.';

grant execute on function internal.save_webhook_configuration to business;
--! EndIncluded webhooks/portal/save_webhook_configuration.sql
-- after the steps and the webhooks, whose addresses it sets
--! Included steps/set_public_url.sql
-- Tells the database the address that clients see. What is computed from it follows: callback_url of every
-- process-shipments step, and producer_url of every webhook configuration that is delivered by this installation.
-- Run at each start; changes only what differs.
create function internal.set_public_url(url text) returns void
language plpgsql
set search_path = ''
as $$
declare
  former_delivery_address text := internal.delivery_address();
begin
  if internal.is_http_address(url) is not true then
    perform internal.refuse(400, 'url: must be an http or https address');
  end if;

  insert into internal.settings as s (name, value) values ('public_url', rtrim(url, '/'))
  on conflict (name) do update set value = excluded.value where s.value <> excluded.value;

  update api.process_shipments_steps s
  set callback_url = internal.callback_url(s.id)
  where s.callback_url is distinct from internal.callback_url(s.id);

  update api.webhook_configurations c
  set producer_url = internal.delivery_address()
  where c.producer_url is null
    or (c.producer_url = former_delivery_address and c.producer_url <> internal.delivery_address());
end
$$;

comment on function internal.set_public_url is
  'Sets the address that clients see, and the addresses of steps and webhooks that follow from it.';
--! EndIncluded steps/set_public_url.sql

-- meta: what the API says of itself
--! Included meta/enum_values.sql
-- The values of every enum type of the API. Read only.
create view api.enum_values with (security_invoker = true) as
select t.typname as enum_type, e.enumlabel as enum_value, e.enumsortorder as enum_order
from pg_catalog.pg_enum e
join pg_catalog.pg_type t on t.oid = e.enumtypid
where t.typnamespace = 'api'::regnamespace;

comment on view api.enum_values is 'Values of the enum types of this API. Read only.';
comment on column api.enum_values.enum_type is 'Name of the type, for example order_status.';
comment on column api.enum_values.enum_value is 'Value.';
comment on column api.enum_values.enum_order is 'Place of the value among those of its type.';

grant select on api.enum_values to business, operator;

create trigger view_is_read_only instead of insert or update or delete on api.enum_values for each row
  execute function internal.view_is_read_only();
--! EndIncluded meta/enum_values.sql
--! Included meta/table_columns.sql
-- The columns of every table and view of the API that the caller has a privilege on, as the catalog has them. Read only.
-- A view has no primary key in the catalog: its column id is taken for one.
create view api.table_columns with (security_invoker = true) as
select
  c.relname::text as table_name,
  a.attname as column_name,
  case
    when c.relkind = 'v' then a.attname = 'id'
    else exists (
      select from pg_catalog.pg_index i where i.indrelid = c.oid and i.indisprimary and a.attnum = any (i.indkey)
    )
  end as is_primary_key,
  format_type(a.atttypid, a.atttypmod) as data_type,
  case t.typtype
    when 'd' then format_type(t.typbasetype, t.typtypmod)
    else format_type(a.atttypid, a.atttypmod)
  end as base_type,
  t.typcategory::text as type_category,
  element.typcategory::text as element_type_category,
  information_schema._pg_char_max_length(
    information_schema._pg_truetypid(a, t), information_schema._pg_truetypmod(a, t)
  )::integer as max_characters,
  not (a.attnotnull or t.typnotnull) as is_nullable,
  a.atthasdef and a.attgenerated = '' or a.attidentity <> '' as has_default,
  a.attgenerated <> '' as is_generated,
  col_description(c.oid, a.attnum) as description
from pg_catalog.pg_class c
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_catalog.pg_type t on t.oid = a.atttypid
left join pg_catalog.pg_type element on element.oid = t.typelem and t.typcategory = 'A'
where c.relnamespace = 'api'::regnamespace
  and c.relkind in ('r', 'p', 'v')
  and has_any_column_privilege(c.oid, 'select, insert, update, references');

comment on view api.table_columns is 'Columns of the tables and views of this API that the caller may use. Read only.';
comment on column api.table_columns.table_name is 'Name of the table or view.';
comment on column api.table_columns.column_name is 'Name of the column.';
comment on column api.table_columns.is_primary_key is 'Whether the column is part of the primary key.';
comment on column api.table_columns.data_type is 'Type of the column, for example timestamp with time zone.';
comment on column api.table_columns.base_type is 'For a domain the type that it restricts, else the same as data_type.';
comment on column api.table_columns.type_category is
  'Category of the type, one letter as in pg_type.typcategory: S text, N number, D time, E enum, A array ...';
comment on column api.table_columns.element_type_category is 'For an array the category of its elements, else null.';
comment on column api.table_columns.max_characters is
  'Most characters that the column takes; null when it is not limited.';
comment on column api.table_columns.is_nullable is 'Whether the column may be null.';
comment on column api.table_columns.has_default is 'Whether the column has a default.';
comment on column api.table_columns.is_generated is 'Whether the column is computed from others of its row.';
comment on column api.table_columns.description is 'What the column means.';

grant select on api.table_columns to business, operator;

create trigger view_is_read_only instead of insert or update or delete on api.table_columns for each row
  execute function internal.view_is_read_only();
--! EndIncluded meta/table_columns.sql
--! EndIncluded all.sql
