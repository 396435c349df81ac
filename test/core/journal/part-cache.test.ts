import { expect, it } from 'vitest';
import { PartCache } from '../../../core/journal/part-cache.ts';

interface Members {
  readonly model: string;
}

it('a part keeps no buffer that other bytes share', () => {
  const parts = new PartCache<Members>(['model']);
  const part = parts.find('key', { model: 'gpt' });
  expect(Buffer.from(part).toString()).toBe(',"model":"gpt"');
  expect(part.buffer.byteLength).toBe(part.length);
});

it('a part without members is empty', () => {
  const parts = new PartCache<Partial<Members>>(['model']);
  expect(parts.find('key', {})).toHaveLength(0);
});
