import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadUws } from '../../../core/http/load-uws.ts';
import { openRawClient } from '../../support/clients/raw-client.ts';
import { startEdge, uwsBinaries } from '../../support/edge/edge-server.ts';

const packed = join(
  process.cwd(),
  `node_modules/uWebSockets.js/dist/bin/uws_${process.platform}_${process.arch}_${process.versions.modules}.node`,
);

describe('the HTTP server binary', () => {
  it('is loaded from a path', async () => {
    const edge = await startEdge(packed);
    const client = await openRawClient(edge.port);
    client.send('GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n');
    expect((await client.reply()).status).toBe(200);
    client.destroy();
    expect(edge.server.uwsName).toBe(packed);
    edge.close();
  });

  it('is the newer package with auto, if it is installed', async () => {
    expect((await loadUws('auto', 65_536)).name).toBe(uwsBinaries[0]);
  });

  it.each(['/nowhere/uws.node'])('from %s that cannot be loaded is reported with its setting', async (path) => {
    await expect(loadUws(path, 65_536)).rejects.toThrow(`UWS_BINARY: the HTTP server binary ${path} cannot be loaded`);
  });
});
