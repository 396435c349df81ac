import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { runOpenApiTask } from '../../../../admin/resources/mcp-integrations/rest/run-openapi-task.ts';

/** Documents that take seconds to read run in a thread, which a time limit ends. */
const info = { title: 'Pets', version: '1' };

/** A schema of 15,000 properties that each of 4,000 operations refers to: describing them all takes minutes. */
const shared = {
  ...{ openapi: '3.1.0', info },
  paths: Object.fromEntries(
    Array.from({ length: 4_000 }, (_, i) => [`/p${i}`, { post: { requestBody: { $ref: '#/components/requestBodies/b' } } }]),
  ),
  components: {
    requestBodies: { b: { content: { 'application/json': { schema: { $ref: '#/components/schemas/s' } } } } },
    schemas: { s: { properties: Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`k${i}`, { type: 'string' }])) } },
  },
};

const small = { sent: { openapi: '3.1.0', info, paths: {} }, operations: [] };

describe('OpenAPI documents are read in a thread', () => {
  it('returns documents, tools and operations', async () => {
    const sent = 'openapi: 3.1.0\ninfo: {title: A}\npaths:\n  /a: {get: {}, put: 1}';
    const { document, api } = await runOpenApiTask('read', { sent, operations: ['GET /a'] });
    expect(api.operations.map(({ tool }) => tool.name)).toEqual(['GET_a']);
    expect(document).toMatchObject({ info: { title: 'A' }, paths: { '/a': { put: 1 } } });
    expect(await runOpenApiTask('select', { document, operations: ['GET /a'] })).toEqual(api);
    expect(await runOpenApiTask('list', { document })).toEqual([
      { id: 'GET /a', method: 'GET', path: '/a', tool: 'GET_a', description: 'GET /a', problem: null },
      { id: 'PUT /a', method: 'PUT', path: '/a', tool: null, description: null, problem: 'an object is expected' },
    ]);
  });

  it('returns errors of the document', async () => {
    await expect(runOpenApiTask('read', { sent: 'a: }', operations: [] })).rejects.toMatchObject({
      code: 'AB01',
      message: expect.stringContaining('configurations.openapi.document: line 1'),
    });
  });

  it('ends a task that takes too long, without delaying other work, and then reads the next document', async () => {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const slow = runOpenApiTask('list', { document: shared }, 1_000);
    await expect(slow).rejects.toMatchObject({ code: 'AB01', message: expect.stringContaining('takes more than 1 s') });
    delay.disable();
    // The task itself takes minutes.
    expect(delay.max / 1e6).toBeLessThan(500);
    expect(await runOpenApiTask('read', small)).toMatchObject({ document: { info } });
  });

  it('does not count the start of the thread as time of a task', async () => {
    const endThread = () => expect(runOpenApiTask('list', { document: shared }, 1)).rejects.toMatchObject({ code: 'AB01' });
    await endThread();
    const startedAtMs = performance.now();
    await runOpenApiTask('read', small);
    // Nearly all of this was the start of a thread.
    const tookMs = performance.now() - startedAtMs;
    await endThread();
    expect(await runOpenApiTask('read', small, Math.ceil(tookMs / 2))).toMatchObject({ document: { info } });
  });

  it('rejects a document if eight others wait', async () => {
    const all = Array.from({ length: 9 }, () => runOpenApiTask('read', small));
    const results = await Promise.allSettled(all);
    expect(results.map(({ status }) => status)).toEqual([...Array(8).fill('fulfilled'), 'rejected']);
    expect(results[8]).toMatchObject({ reason: { code: 'AB06' } });
  });
});
