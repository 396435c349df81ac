import { expect, it } from 'vitest';
import { type SharedGateway, shareGateway } from '../support/product/shared-gateway.ts';

// Tests of the address of the caller in the audit trail. The product `configured` trusts the proxy in front of it, `single` does not.
const client = '203.0.113.7';
const span = 'start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z';

/** Creates a config as a client behind a proxy would, and returns the audit entry. */
async function told(running: SharedGateway, headers: Record<string, string>): Promise<[address: string, country: string | null]> {
  const name = `config ${Math.random()}`;
  const reply = await fetch(`${running.baseUrl}/configs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-api-key': running.adminKey, ...headers },
    body: JSON.stringify({ name, workspace_id: running.workspaceId, config: { provider: '@mock' } }),
  });
  expect(reply.status).toBe(200);
  const { body } = await running.admin.get(`/audit-logs?${span}&resource_type=configs&action=create`);
  const records = body.records as { request_body: string; client_ip: string; country: string | null }[];
  // Other test files may write entries of this product too.
  const record = records.find(({ request_body }) => JSON.parse(request_body).name === name);
  expect(record).toBeDefined();
  return [record?.client_ip ?? '', record?.country ?? null];
}

it('client address: it is the client’s behind a trusted proxy, in the audit log and its filter', async () => {
  const gateway = await shareGateway('configured');
  const headers = { 'x-forwarded-for': `6.6.6.6, ${client}`, 'cf-ipcountry': 'at' };
  expect(await told(gateway, headers)).toEqual([client, 'AT']);
  // An internal header from outside has no effect.
  expect(await told(gateway, { 'x-forwarded-for': client, 'svc-internal-country': 'DE' })).toEqual([client, null]);
  for (const [country, total] of [
    ['AT', 1],
    ['at', 1],
    ['DE', 0],
  ]) {
    expect((await gateway.admin.get(`/audit-logs?${span}&country=${country}`)).body.total).toBe(total);
  }
});

it('client address: it is the proxy’s if the proxy is not trusted, whatever its headers contain', async () => {
  // The shared product trusts proxies in another network and reads this header for the country.
  expect(await told(await shareGateway(), { 'x-forwarded-for': client, 'cf-ipcountry': 'AT' })).toEqual(['127.0.0.1', null]);
});
