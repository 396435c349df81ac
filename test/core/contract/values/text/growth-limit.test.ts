import { expect, it } from 'vitest';
import { GrowthLimit } from '../../../../../core/contract/values/text/growth-limit.ts';

it('a stream that has been long before becomes no more than 128 million characters at once', () => {
  const growth = new GrowthLimit();
  growth.read(100_000_000);
  const text = 'a'.repeat(16_000_000);
  for (let i = 0; i < 8; i++) growth.write(text);
  expect(() => growth.write('a')).toThrow('more than 20 times as long for the client, in all or at once');
});

it('a long stream may become as long again and again', () => {
  const growth = new GrowthLimit();
  const text = 'a'.repeat(16_000_000);
  const send = () => {
    growth.read(1_000_000);
    growth.write(text);
  };
  for (let i = 0; i < 50; i++) expect(send).not.toThrow();
});
