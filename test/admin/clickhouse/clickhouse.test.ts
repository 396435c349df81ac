import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClickHouse } from '../../../admin/clickhouse/clickhouse.ts';
import { clickhouseMissing, clickhouseTls, startClickHouse, type TestClickHouse } from '../../support/processes/clickhouse.ts';

const client = fileURLToPath(new URL('../../../admin/clickhouse/clickhouse.ts', import.meta.url));

if (clickhouseMissing) console.warn(`skipped: ${clickhouseMissing}`);

describe.skipIf(clickhouseMissing !== null)('ClickHouse over TLS, with a user', () => {
  let server: TestClickHouse;
  beforeAll(async () => {
    server = await startClickHouse({ withTls: true });
  });
  afterAll(() => server?.close());

  /** Runs statements in a process that trusts the certificate, as a control plane with NODE_EXTRA_CA_CERTS does. Returns what it prints. */
  async function trusting(url: string): Promise<unknown> {
    const script = `
      const { createClickHouse } = await import(${JSON.stringify(client)});
      const clickhouse = createClickHouse(${JSON.stringify(url)});
      try {
        await clickhouse.run('create table if not exists over_tls (id UInt32, name String) engine = MergeTree order by id');
        await clickhouse.insert('over_tls', '{"id":1,"name":"one"}\\n{"id":2,"name":"two"}');
        console.log(JSON.stringify(await clickhouse.query('select id, name from over_tls where id > {least:UInt32}', { least: 1 })));
      } catch ({ name, message, isTemporary }) {
        console.log(JSON.stringify({ name, message, isTemporary }));
      }
      await clickhouse.close();`;
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: clickhouseTls[0] };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
    return JSON.parse(stdout);
  }

  it('creates, inserts and reads with a trusted certificate', async () => {
    expect(await trusting(server.url)).toEqual([{ id: 2, name: 'two' }]);
  });

  it('a wrong password is a temporary error without the password', async () => {
    expect(await trusting(server.url.replace('planted-secret', 'another-secret'))).toEqual({
      name: 'ClickHouseError',
      message: 'ClickHouse rejected a statement: AUTHENTICATION_FAILED (516)',
      isTemporary: true,
    });
  });

  it('sends nothing to a server whose certificate is not trusted', async () => {
    const clickhouse = createClickHouse(server.url);
    await expect(clickhouse.query('select 1')).rejects.toMatchObject({
      name: 'ClickHouseError',
      message: 'ClickHouse does not reply: DEPTH_ZERO_SELF_SIGNED_CERT',
      isTemporary: true,
    });
    await clickhouse.close();
  });
});
