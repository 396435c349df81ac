import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('analytics: rejected queries, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const min = 'time_of_generation_min=2026-01-01T00:00:00Z';
  const max = 'time_of_generation_max=2026-01-02T00:00:00Z';
  it.each([
    ['no minimum', 'graphs/cost', max, 'time_of_generation_min'],
    ['no maximum', 'graphs/cost', min, 'time_of_generation_max'],
    [
      'a maximum before the minimum',
      'graphs/cost',
      `${min}&time_of_generation_max=2025-01-01T00:00:00Z`,
      'time_of_generation_max',
    ],
    ['more than ten years', 'graphs/cost', `time_of_generation_min=2010-01-01T00:00:00Z&${max}`, 'time_of_generation_min'],
    ['a text for a time', 'graphs/cost', `${min}&time_of_generation_max=tomorrow`, 'time_of_generation_max'],
    ['an unknown filter', 'graphs/cost', `${min}&${max}&model=x`, 'model'],
    ['an unknown column', 'groups/model', `${min}&${max}&columns=cost,price`, 'columns'],
    ['an unknown order', 'groups/model', `${min}&${max}&order_by=price`, 'order_by'],
    ['two directions', 'groups/model', `${min}&${max}&order=asc&order_by_type=desc`, 'order_by_type: must equal order'],
    ['an order that groups of metadata do not have', 'groups/metadata/a', `${min}&${max}&order_by=p99_latency`, 'order_by'],
    ['an unknown status in the cache', 'graphs/cost', `${min}&${max}&cache_status=warm`, 'cache_status: a list of HIT'],
    ['an unknown dimension', 'groups/colour', `${min}&${max}`, 'groupBy'],
    ['four dimensions', 'groups/model,api_key,config,provider', `${min}&${max}`, 'groupBy'],
  ])('%s', async (_what, path, query, field) => {
    const reply = await plane.ask('GET', `/analytics/${path}?${query}`);
    expect(reply).toMatchObject({ status: 400, body: { data: { errorCode: 'AB01', message: expect.stringContaining(field) } } });
  });
});
