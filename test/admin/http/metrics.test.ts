import { afterAll, beforeAll, expect, it } from 'vitest';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabase } from '../support/test-database.ts';

const token = 'metrics-token-0123456789';
let plane: Plane;
beforeAll(async () => {
  plane = await startPlane(ruleDatabase, { METRICS_TOKEN: token });
});
afterAll(() => plane.close());

const scrape = (authorization?: string) => fetch(`${plane.url}/metrics`, { headers: authorization ? { authorization } : {} });

it('control-plane metrics: count requests by surface, method and status, with the process metrics', async () => {
  await plane.ask('GET', '/configs');
  await plane.ask('GET', '/nothing-here');
  const text = await (await scrape(`Bearer ${token}`)).text();
  expect(text).toMatch(/^svc_admin_requests_total\{surface="admin",method="GET",status="200",process="control-plane"\} [1-9]/m);
  expect(text).toMatch(/^svc_admin_requests_total\{surface="admin",method="GET",status="404",process="control-plane"\} 1$/m);
  expect(text).toMatch(/^process_resident_memory_bytes\{process="control-plane"\} /m);
  expect(text).not.toMatch(/^# TYPE \S+_total gauge$/m);
});

it('control-plane metrics: require the bearer token of METRICS_TOKEN', async () => {
  for (const wrong of [undefined, 'Bearer wrong', token, `Basic ${token}`]) expect((await scrape(wrong)).status).toBe(401);
});

it('control-plane metrics: have the usage of stored records, and gauges from the database', async () => {
  const record = sampleRecord({ organisationId: plane.organisationId, workspaceId: plane.workspaceId });
  await plane.internal('POST', '/records', [record]);
  const text = await (await scrape(`Bearer ${token}`)).text();
  expect(text).toMatch(/^svc_usage_requests_total\{provider="openai",process="control-plane"\} 1$/m);
  expect(text).toMatch(/^svc_usage_tokens_total\{provider="openai",type="output",process="control-plane"\} 45$/m);
  expect(text).toMatch(/^svc_usage_cost_usd_total\{provider="openai",process="control-plane"\} 0.000045$/m);
  expect(text).toMatch(/^svc_changes_unpublished\{process="control-plane"\} \d+$/m);
});
