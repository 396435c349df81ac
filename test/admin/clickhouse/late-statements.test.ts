import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createClickHouse } from '../../../admin/clickhouse/clickhouse.ts';

it.each([
  [159, 'TIMEOUT_EXCEEDED', { isTemporary: true, isLate: true }],
  [241, 'MEMORY_LIMIT_EXCEEDED', { isTemporary: true, isLate: true }],
  [60, 'UNKNOWN_TABLE', { isTemporary: true, isLate: false }],
  [62, 'SYNTAX_ERROR', { isTemporary: false, isLate: false }],
])('an error of ClickHouse states if the statement is late: %s %s', async (code, type, expected) => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(500, { 'x-clickhouse-exception-code': String(code) });
    response.end(`Code: ${code}. DB::Exception: The statement failed. (${type}) (version 26.1.1.1)`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const clickhouse = createClickHouse(`http://u:p@127.0.0.1:${(server.address() as AddressInfo).port}/d`);
  try {
    await expect(clickhouse.query('select 1')).rejects.toMatchObject({ name: 'ClickHouseError', ...expected });
  } finally {
    await clickhouse.close();
    server.close();
  }
});
