import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import type { UwsRequestBody } from '../../../core/http/request-body.ts';
import { sha256 } from '../../support/clients/raw-client.ts';
import { type Edge, startEdge, uwsBinaries } from '../../support/edge/edge-server.ts';
import { patternBytes } from '../../support/samples/pattern-bytes.ts';

const uploads = 8;
const uploadBytes = 12_000_000;
/** A turn that takes in more than this beside its largest share takes in several uploads. */
const besideOneMax = 1_500_000;

/** Sends all uploads at once from a thread, so that the kernel's buffers fill while the server works. Posts the replies. */
const sender = `
  const { workerData: { port, uploads, body }, parentPort } = require('node:worker_threads');
  const { request } = require('node:http');
  const send = () => new Promise((resolve, reject) => {
    const headers = { 'content-length': body.length };
    request({ port, host: '127.0.0.1', method: 'POST', path: '/x', agent: false, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve(text);
    }).once('error', reject).end(body);
  });
  Promise.all(Array.from({ length: uploads }, send)).then((texts) => parentPort.postMessage(texts));
`;

describe.each(uwsBinaries)('many large uploads at once, on %s', (binary) => {
  let edge: Edge;
  afterEach(() => edge.close());

  it('arrive whole, and few of their bytes in turns of the event loop that take in several', async () => {
    const body = patternBytes(uploadBytes);
    let lookedAt = 0;
    edge = await startEdge(binary, ({ body }, sink) => {
      const look = (chunk: Uint8Array): void => {
        lookedAt += chunk.length;
      };
      void body.bytes(uploadBytes, undefined, look).then((bytes) => sink.send(200, [], sha256(bytes)));
    });
    const thread = new Worker(sender, { eval: true, workerData: { port: edge.port, uploads, body } });
    let replies: string[] | null = null;
    const over = once(thread, 'message').then(([texts]) => (replies = texts as string[]));
    const before = new Map<object, number>();
    let crowdedBytes = 0;
    while (replies === null) {
      const arrived = edge.handled.map((request) => {
        const { receivedBytes } = request.body as UwsRequestBody;
        const grown = receivedBytes - (before.get(request) ?? 0);
        before.set(request, receivedBytes);
        return grown;
      });
      const sum = arrived.reduce((all, one) => all + one, 0);
      if (sum - Math.max(0, ...arrived) > besideOneMax) crowdedBytes += sum;
      await nextTurn();
    }
    await over;
    expect(new Set(replies)).toEqual(new Set([sha256(body)]));
    expect(lookedAt).toBe(uploads * uploadBytes);
    // Sockets that are ready in the same turn may each empty their kernel buffer, which holds more on a busy machine: up to 17 of the 96 MB
    // arrived in such turns, and 71 to 94 MB before bodies were held back.
    expect(crowdedBytes).toBeLessThan((uploads * uploadBytes) / 2);
  });
});
