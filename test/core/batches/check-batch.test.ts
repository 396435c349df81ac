import { describe, expect, it } from 'vitest';
import { providers } from '../../../core/providers/index.ts';

describe('lines of batches', () => {
  const making = [...providers.values()].filter((adapter) => adapter.operations.createBatch);

  it.each(making.map((adapter) => [adapter.id, adapter] as const))('can be checked at %s', (_, adapter) => {
    const { steps, checksLines, requestFiles } = adapter.operations.createBatch ?? {};
    expect(steps ? checksLines === true : requestFiles !== undefined).toBe(true);
  });
});
