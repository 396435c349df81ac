import { describe, expect, it } from 'vitest';
import { ownStoreOrigin } from '../../../core/contract/provider/own-store.ts';
import type { ProviderAdapter } from '../../../core/contract/provider/provider.ts';
import { bytesOfWritten, expectBody, expectExchange, runStored } from './stored-exchange.ts';
import { type StoredCase, type StoredFunction, storedFixturesOf } from './stored-fixtures.ts';

/** The functions of each family. `passed` ones are no operations and reach every provider unchanged. */
const families: Readonly<
  Record<string, { readonly functions: readonly StoredFunction[]; readonly passed: readonly StoredFunction[] }>
> = {
  batches: { functions: ['createBatch', 'listBatches', 'retrieveBatch', 'getBatchOutput', 'cancelBatch'], passed: [] },
  files: { functions: ['uploadFile', 'listFiles', 'retrieveFile', 'retrieveFileContent', 'deleteFile'], passed: [] },
  'fine-tuning': {
    functions: ['createFinetune', 'listFinetunes', 'retrieveFinetune', 'cancelFinetune'],
    passed: ['listFinetuneEvents', 'listFinetuneCheckpoints'],
  },
};

const storedNames: ReadonlySet<string> = new Set(Object.values(families).flatMap(({ functions }) => functions));

/** True for operations about files, batches and fine-tuning jobs: their fixtures are in `fixtures/stored`. */
export function isStored(operation: string): boolean {
  return storedNames.has(operation);
}

/**
 * Tests the stored resources of a provider against its fixtures: every exchange is sent as in the fixture, every reply equals the
 * fixture, and every error reply reaches the client. `folder`, below `test/core/providers`, has the fixtures by family.
 */
export function storedContractSuite(adapter: ProviderAdapter, folder: string): void {
  const files = storedFixturesOf(folder);
  const offered = Object.keys(adapter.operations).filter(isStored).sort();
  const cases = files.flatMap((file) => file.cases.map((one) => [`${one.operation}, ${one.name}`, file, one] as const));

  it('has a fixture for everything it keeps, and offers everything it has a fixture for', () => {
    const shown = cases.filter(([, , { operation, reply }]) => isStored(operation) && isSuccess(reply));
    expect([...new Set(shown.map(([, , { operation }]) => operation))].sort()).toEqual(offered);
  });

  for (const [family, { functions, passed }] of Object.entries(families)) {
    if (!functions.some((name) => adapter.operations[name as keyof typeof adapter.operations])) continue;
    it(`has its fixtures of ${family} in one file, with a refusal`, () => {
      const file = files.find((one) => one.family === family);
      const known: readonly string[] = [...functions, ...passed];
      expect(file?.cases.map(({ operation }) => operation).filter((name) => !known.includes(name))).toEqual([]);
      // Jobs of OpenAI's form have their events and checkpoints at OpenAI's paths, which pass through.
      const missing = passed.filter((name) => !file?.cases.some(({ operation }) => operation === name));
      expect(adapter.operations.retrieveFinetune?.passesJson ? missing : []).toEqual([]);
      expect(file?.about).toMatch(/https?:\/\/.*20\d\d-\d\d-\d\d/s);
      expect(file?.refusal.status).toBeGreaterThanOrEqual(400);
    });
  }

  describe.each(cases)('%s', (_, file, one) => {
    it('leaves and comes back as written', async () => {
      const { calls, sink } = await runStored(file, one);
      for (const [index, exchange] of one.exchanges.entries()) expectExchange(calls[index], file, exchange);
      expect(calls).toHaveLength(one.exchanges.length);
      const last = one.exchanges.at(-1)?.response;
      const { status, headers, ...body } = (one.reply === 'as sent' ? last : one.reply) ?? {};
      expect([sink.status, sink.text.slice(0, 500)]).toEqual([status ?? 200, expect.anything()]);
      for (const [name, value] of Object.entries(headers ?? {})) expect([name, sink.header(name)]).toEqual([name, value]);
      const bytes = Buffer.concat(sink.chunks);
      if (one.reply === 'as sent') expect(bytes.toString()).toBe(bytesOfWritten(body).toString());
      else expectBody(bytes, body);
    });

    const asked = one.exchanges.map((exchange, index) => [index + 1, exchange] as const);
    it.each(isSuccess(one.reply) ? asked : [])('a refusal of exchange %i reaches the client', async (number, { optional }) => {
      const { calls, sink } = await runStored(file, one, number - 1);
      const refused = calls[number - 1];
      if (optional) return expect(sink.status).toBe(200);
      // A stream that has begun can only be cut off.
      if (sink.started && sink.status === 200) return expect([sink.destroyed, number]).toEqual([true, one.exchanges.length]);
      if (!isStored(one.operation))
        expect([sink.status, sink.text]).toEqual([file.refusal.status, bytesOfWritten(file.refusal).toString()]);
      else if (refused?.line.includes(` ${ownStoreOrigin}/`))
        expect([sink.status, sink.json.error]).toMatchObject([404, { code: 'not_found' }]);
      else {
        const message = refused?.line.startsWith('HEAD ') ? expect.any(String) : file.refusal.message;
        expect([sink.status, sink.json.error]).toMatchObject([file.refusal.status, { message }]);
      }
      // An operation in progress may be undone, and a body in progress may still be read. No other call is allowed.
      const after = calls.slice(number).map(({ line }) => line);
      expect(after.filter((line) => !/^DELETE | svc:\/\/store\//.test(line))).toEqual([]);
    });
  });
}

function isSuccess(reply: StoredCase['reply']): boolean {
  return reply === 'as sent' || (reply.status ?? 200) < 300;
}
