import { createServer } from 'node:net';
import type { Settings } from '../../config/settings.ts';

/**
 * Returns one line per port that is already in use. Runs before the first child starts: gateway processes share their port
 * (SO_REUSEPORT), so a second gateway beside a forgotten first one would silently take half of its connections.
 * @param patienceMs time to wait for a used port to become free, as it does when a previous run is just ending
 */
export async function busyPorts(settings: Settings, patienceMs = 2_000): Promise<string[]> {
  const { host, port, controlPlaneHost, controlPlanePort } = settings;
  const wanted: { name: string; hostName: string; host: string; port: number }[] = [];
  if (settings.role !== 'control-plane') wanted.push({ name: 'PORT', hostName: 'HOST', host, port });
  if (settings.role !== 'gateway') {
    wanted.push({ name: 'CONTROL_PLANE_PORT', hostName: 'CONTROL_PLANE_HOST', host: controlPlaneHost, port: controlPlanePort });
  }
  const giveUpAt = performance.now() + patienceMs;
  const lines = await Promise.all(
    wanted.map(async ({ name, hostName, host, port }) => {
      for (;;) {
        const code = await tryToListen(host, port);
        if (code === null) return null;
        if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
          return `${hostName}: got "${host}", expected an address of this machine (${code})`;
        if (code !== 'EADDRINUSE')
          return `${name}: got "${port}", expected a port that this process can listen on at ${host} (${code})`;
        if (performance.now() >= giveUpAt)
          return `${name}: got "${port}", expected a free port, but another process listens on ${host}:${port}`;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }),
  );
  return lines.filter((line) => line !== null);
}

function tryToListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
