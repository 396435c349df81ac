import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entities } from '../../../admin/tables.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

interface Column {
  readonly table_name: string;
  readonly column_name: string;
  readonly is_nullable: 'YES' | 'NO';
}

/**
 * Tables of the installation, which have no tenant: the counter, the list of migrations, its keys and their checks, clients that
 * register themselves, and records that wait to be copied to ClickHouse.
 */
const shared = ['change_counter', 'kept_keys', 'key_checks', 'mcp_signing_keys', 'migrations', 'oauth_clients', 'record_copies'];
/** Columns that only older versions use. */
const retired = ['check_results', 'error', 'output'].map((name) => `prompt_test_results.${name}`);

describe.each(databases)('entities and migrations, on %s', (database) => {
  let plane: Plane;
  let columns: Column[];
  beforeAll(async () => {
    plane = await startPlane(database);
    columns = await plane.control.services.database.em().execute<Column[]>(
      `select table_name, column_name, is_nullable from information_schema.columns where table_schema = 'public'
           and table_name not in (select relname from pg_class where relispartition)`,
    );
  });
  afterAll(() => plane?.close());

  it('agree on every table, column and null', () => {
    const metadata = plane.control.services.database.em().getMetadata();
    for (const entity of entities) {
      const { tableName, props } = metadata.getByClassName<object>(entity.meta.className);
      expect(props.length).toBeGreaterThan(0);
      const fromEntity = props.map((prop) => `${prop.fieldNames[0]} ${prop.nullable ? 'YES' : 'NO'}`).sort();
      const fromDatabase = columns
        .filter((one) => one.table_name === tableName && !retired.includes(`${tableName}.${one.column_name}`))
        .map((one) => `${one.column_name} ${one.is_nullable}`)
        .sort();
      expect(fromEntity, tableName).toEqual(fromDatabase);
    }
  });

  it('have the tenant in every table', () => {
    const tables = [...new Set(columns.map((one) => one.table_name))].filter((name) => !shared.includes(name));
    expect(tables).toHaveLength(entities.filter((entity) => !shared.includes(entity.meta.tableName)).length);
    for (const table of tables) {
      const tenant = table === 'organisations' ? 'id' : 'organisation_id';
      expect(
        columns.some((one) => one.table_name === table && one.column_name === tenant),
        table,
      ).toBe(true);
    }
  });
});
