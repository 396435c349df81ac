import { expect, it } from 'vitest';
import { readBatchUsage } from '../../../core/batches/read-batch-usage.ts';
import type { ProviderAdapter } from '../../../core/contract/provider/provider.ts';
import type { HeaderList } from '../../../core/contract/values/http/http.ts';
import { createBuilder } from '../../../core/pipeline/target/build-target.ts';
import { providers } from '../../../core/providers/index.ts';
import { providerDocument } from '../../../core/test-kit/pipeline-harness.ts';

it('batch usage: reading ends when the caller aborts, if the provider never responds', async () => {
  const left = new AbortController();
  let aborted = 0;
  let sent: HeaderList = [];
  const usage = readBatchUsage(
    { document: providerDocument('one', 'openai'), settings: {}, batchId: 'batch_1' },
    {
      builder: createBuilder({
        providers: providers as ReadonlyMap<string, ProviderAdapter>,
        parseBaseUrl: (url) => ({ origin: new URL(url).origin, path: '' }),
      }),
      transport: {
        send: ({ headers }) => {
          sent = headers;
          queueMicrotask(() => left.abort());
          return { resume: () => {}, abort: () => void aborted++ };
        },
      },
      sign: {} as never,
      openSecrets: () => ({}),
      openHeaders: () => ({ 'x-token': 'of the integration' }),
      usageOf: () => null,
      now: Date.now,
      newId: () => 'id',
      signal: left.signal,
    },
  );
  await expect(usage).rejects.toThrow('the exchange was cancelled');
  expect(aborted).toBe(1);
  expect(sent).toEqual(expect.arrayContaining(['x-token', 'of the integration']));
});
