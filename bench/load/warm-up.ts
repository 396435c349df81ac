import { until } from '../../test/support/until.ts';
import { HttpConnection, postBytes } from './http-connection.ts';
import type { Target } from './load.ts';

/**
 * Calls over fresh connections until 40 in a row had status 200. The kernel has then passed some to every gateway process, and
 * key, config and provider are in memory everywhere.
 */
export async function warmUp(target: Target): Promise<void> {
  const { hostname, port } = new URL(target.url);
  const bytes = postBytes(target.url, target.headers, target.body);
  let inRow = 0;
  let last = '';
  await until(
    async () => {
      const connection = new HttpConnection(hostname, Number(port));
      const result = await connection.call(bytes);
      connection.close();
      const ok = result.kind === 'reply' && result.reply.status === 200;
      if (!ok) last = result.kind === 'reply' ? result.reply.text : result.reason;
      inRow = ok ? inRow + 1 : 0;
      return inRow >= 40;
    },
    { deadlineMs: 30_000, what: '40 good replies in a row' },
  ).catch((error: Error) => {
    throw new Error(`${error.message}; the last other reply: ${last.slice(0, 600)}`);
  });
}
