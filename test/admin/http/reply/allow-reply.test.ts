import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { allowReply } from '../../../../admin/http/reply/allow-reply.ts';
import { newMemoryLog } from '../../../support/fakes/memory-log.ts';

const item = v.strictObject({ id: v.string(), more: v.optional(v.strictObject({ at: v.string() })) });
const route = { method: 'GET' as const, path: '/things', reply: v.strictObject({ data: v.array(item) }) };

describe('a route’s reply', () => {
  it('stays unchanged if it matches its schema', () => {
    const log = newMemoryLog();
    expect(allowReply(route, { data: [{ id: 'a' }], gone: undefined }, false, log)).toEqual({ data: [{ id: 'a' }] });
    expect(log.lines).toEqual([]);
  });

  it('loses undeclared members at any depth, and the log names them without values', () => {
    const log = newMemoryLog();
    const reply = {
      data: [
        { id: 'a', digest: 'planted' },
        { id: 'b', more: { at: 'x', secret: 'planted' } },
      ],
      total: 'planted',
    };
    expect(allowReply(route, reply, false, log)).toEqual({ data: [{ id: 'a' }, { id: 'b', more: { at: 'x' } }] });
    expect(log.lines.map((line) => line.level)).toEqual(['error']);
    expect(JSON.stringify(log.lines)).not.toContain('planted');
    expect(JSON.stringify(log.lines)).toContain('data.0.digest');
  });

  it('is rejected as a whole if the undeclared members cannot be determined', () => {
    const either = { ...route, reply: v.union([item, v.strictObject({ name: v.string() })]) };
    expect(() => allowReply(either, { name: 'a', digest: 'planted' }, false, newMemoryLog())).toThrow('GET /things');
  });

  it('with undeclared members is an error in tests', () => {
    expect(() => allowReply(route, { data: [], total: 1 }, true, newMemoryLog())).toThrow('GET /things');
  });
});
