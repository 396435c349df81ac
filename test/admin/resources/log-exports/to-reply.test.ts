import { expect, it } from 'vitest';
import { validate } from '../../../../admin/http/request/validate.ts';
import type { LogExport } from '../../../../admin/resources/log-exports/entity.ts';
import { exportFilters } from '../../../../admin/resources/log-exports/schema.ts';
import { toLogExportReply } from '../../../../admin/resources/log-exports/to-reply.ts';

const shownFor = (sent: object) => {
  const filters = validate(exportFilters, sent, 'filters', 'filters');
  const at = new Date(0);
  return toLogExportReply({ filters, createdAt: at, lastUpdatedAt: at } as unknown as LogExport).filters;
};

it.each([
  { ai_model: 'gpt-4o,gpt-4o-mini', status_code: '200,500', page_size: 10 },
  { metadata: { team: 'a', _user: 'alice' } },
  { metadata: { team: ['a', 'b'] } },
  { trace_id: 'one' },
  { trace_id: 'one,two' },
])('filters of exports are shown as they were sent: %j', (sent) => {
  expect(shownFor(sent)).toEqual(sent);
});
