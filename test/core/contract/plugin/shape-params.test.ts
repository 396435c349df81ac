import { describe, expect, it } from 'vitest';
import type { Target } from '../../../../core/contract/plugin/plan.ts';
import { defaultMarkersOf, leaveDefaults, shapeParams } from '../../../../core/contract/plugin/requests/shape-params.ts';

const shape = (target: Partial<Target>, params: Record<string, unknown>) => shapeParams(params, target as Target);

describe('shapeParams', () => {
  it('returns the same object when the target changes nothing', () => {
    const params = { model: 'm' };
    expect(shape({}, params)).toBe(params);
  });

  it('fills defaults, then overrides, then drops', () => {
    const target = {
      defaultParams: { temperature: 1, top_p: 1 },
      overrideParams: { model: 'forced', seed: 7 },
      dropParams: ['seed', 'top_p'],
    };
    expect(shape(target, { model: 'asked', top_p: 0.5 })).toEqual({ model: 'forced', temperature: 1 });
  });

  it('drops by path, through arrays and quoted keys, and ignores paths without a value', () => {
    const params = {
      tools: [{ function: { strict: true, name: 'a' } }, { function: { name: 'b' } }, 7],
      meta: { 'x.y': 1, keep: 2 },
      list: [1, 2, 3],
    };
    const target = {
      dropParams: ['tools[*].function.strict', 'meta["x.y"]', 'list[1]', 'nowhere.at.all', 'list[9]', 'tools.name'],
    };
    expect(shape(target, params)).toEqual({
      tools: [{ function: { name: 'a' } }, { function: { name: 'b' } }, 7],
      meta: { keep: 2 },
      list: [1, 3],
    });
  });

  it('counts the elements of a list before any of them is dropped', () => {
    const params = { list: [{ a: 1 }, { a: 2 }, { a: 3, b: 3 }], named: { 0: 1, '01': 2 } };
    const target = { dropParams: ['list[0]', 'list[ 1 ].a', 'list[2]["b"]', 'list[*].c', 'named["01"]'] };
    expect(shape(target, params)).toEqual({ list: [{}, { a: 3 }], named: { 0: 1 } });
  });

  it('does not modify its input', () => {
    const params = { a: { b: 1, c: 2 } };
    shape({ dropParams: ['a.b'] }, params);
    expect(params).toEqual({ a: { b: 1, c: 2 } });
  });
});

describe('leaveDefaults', () => {
  const words = defaultMarkersOf(['x-svc-', 'x-other-', 'gw-']);

  it('drops parameters that the headers of any prefix leave to the provider', () => {
    const params = { model: 'm', temperature: 'svc-default', top_p: 'other-default', user: 'gw-default', seed: 7 };
    expect(leaveDefaults(params, words)).toEqual({ model: 'm', seed: 7 });
    expect(params.temperature).toBe('svc-default');
  });

  it('returns the same object if nothing is dropped, and ignores the model and nested values', () => {
    const params = { model: 'svc-default', stop: ['svc-default'], user: 'svc-default ' };
    expect(leaveDefaults(params, words)).toBe(params);
  });
});
