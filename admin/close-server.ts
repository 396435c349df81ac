import type { Server } from 'node:http';

/** Milliseconds that running requests may take after a stop signal. */
const finishMs = 5_000;

/**
 * Accepts the connections that wait in the kernel, which resets them when a listener closes. Then lets running requests finish; keep-alive
 * connections close when idle.
 */
export async function closeServer(server: Server): Promise<void> {
  // Between two turns of `setImmediate` the event loop polls.
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  await new Promise<void>((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), finishMs);
    server.on('request', (_, reply) => reply.once('close', () => setImmediate(() => server.closeIdleConnections())));
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}
