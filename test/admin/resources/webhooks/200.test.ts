import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signatureHeaders } from '../../../../admin/resources/webhooks/sign.ts';
import { freePort } from '../../../support/processes/free-port.ts';
import { until } from '../../../support/until.ts';
import { expectChange } from '../../support/outcomes.ts';
import { newPerson } from '../../support/people.ts';
import type { Plane } from '../../support/plane.ts';
import { startPlaneWithGateway } from '../../support/plane-gateway.ts';
import { ruleDatabases } from '../../support/test-database.ts';

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

describe.each(ruleDatabases)('webhooks: accepted requests, on %s', (database) => {
  let plane: Plane;
  const received: Received[] = [];
  let status = 200;
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(status).end();
  });
  let url = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?key=a`;
    plane = await startPlaneWithGateway(database, { TRUSTED_CUSTOM_HOSTS: '127.0.0.1' });
  });
  afterAll(async () => {
    await plane?.close();
    receiver.closeAllConnections();
    receiver.close();
  });
  const trace = (action: string) => ({ resource: 'webhooks', action, events: [] });
  const valid = () => ({ name: 'Alerts', url, events: ['policy.threshold', 'policy.exhausted'] });
  const create = async (changes = {}) => {
    const { body } = await plane.ask('POST', '/webhooks', { body: { ...valid(), ...changes } });
    return body as { id: string; slug: string; secret: string };
  };
  it('are found by their slug without a workspace, by a key of the organisation', async () => {
    const other = await plane.ask('POST', '/workspaces', { body: { name: 'Other' } });
    const { slug } = await create({ slug: 'by-slug', workspace_id: plane.workspaceId });
    expect((await plane.ask('GET', `/webhooks/${slug}`)).body).toMatchObject({ slug, workspace_id: plane.workspaceId });
    expect((await plane.ask('GET', `/webhooks/${slug}/deliveries`)).body.total).toBe(0);
    await create({ slug: 'by-slug', workspace_id: other.body.id });
    const several = await plane.ask('GET', `/webhooks/${slug}`);
    expect([several.status, several.body.data.message]).toEqual([400, expect.stringContaining(other.body.slug)]);
    expect((await plane.ask('DELETE', `/webhooks/${slug}?workspace_id=${other.body.id}`)).status).toBe(200);
    expect((await plane.ask('DELETE', `/webhooks/${slug}`)).status).toBe(200);
    const body = { name: 'Other', force_delete: true };
    expect((await plane.ask('DELETE', `/workspaces/${other.body.id}`, { body })).status).toBe(200);
  });

  const deliveryOf = async (slug: string, id: string, status: string) => {
    const read = async () => (await plane.ask('GET', `/webhooks/${slug}/deliveries/${id}`)).body;
    await until(async () => (await read()).status === status, { what: `a delivery that is ${status}` });
    return read();
  };

  it('creates, reads, lists, changes and deletes, and shows the secret once', async () => {
    const body = { ...valid(), slug: 'first' };
    const made = await expectChange(plane, () => plane.ask('POST', '/webhooks', { body }), trace('create'));
    expect(made.body).toMatchObject({
      slug: 'first',
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      object: 'webhook',
    });
    const read = await plane.ask('GET', '/webhooks/first');
    expect(read.body).toMatchObject({ id: made.body.id, name: 'Alerts', url, status: 'active', workspace_id: plane.workspaceId });
    expect((await plane.ask('GET', '/webhooks')).body).toEqual({ object: 'list', total: 1, data: [read.body] });
    const change = { body: { status: 'paused' }, headers: { 'if-match': made.headers.get('etag') ?? '' } };
    await expectChange(plane, () => plane.ask('PUT', `/webhooks/${made.body.id}`, change), trace('update'));
    const changed = (await plane.ask('GET', '/webhooks/first')).body;
    expect(changed.status).toBe('paused');
    expect(JSON.stringify([read.body, changed])).not.toContain('whsec_');
    const rotated = await expectChange(plane, () => plane.ask('POST', '/webhooks/first/rotate-secret'), trace('rotate'));
    expect(rotated.body.secret).not.toBe(made.body.secret);
    await expectChange(plane, () => plane.ask('DELETE', '/webhooks/first'), trace('delete'));
    expect((await plane.ask('GET', '/webhooks/first')).status).toBe(404);
  });

  it('a test event is sent with a signature that the secret verifies, and is in the log', async () => {
    const { slug, secret } = await create();
    received.length = 0;
    const { id } = (await plane.ask('POST', `/webhooks/${slug}/test`)).body;
    expect(await deliveryOf(slug, id, 'delivered')).toMatchObject({
      event: 'webhook.test',
      attempts: 1,
      response_status: 200,
      error: null,
    });
    expect(received).toHaveLength(1);
    const { headers, body } = received[0] as Received;
    expect(JSON.parse(body)).toMatchObject({ type: 'webhook.test', data: { workspace_id: plane.workspaceId } });
    expect(headers['webhook-id']).toBe(id);
    const signed = `${id}.${headers['webhook-timestamp']}.${body}`;
    const expected = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(signed)
      .digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${expected}`);
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
  });

  it('send an event when an item of the workspace is created, changed or deleted, and none about other workspaces', async () => {
    const { slug } = await create({ slug: 'changes', events: ['item.changed'] });
    const workspace_id = plane.workspaceId;
    const other = (await plane.ask('POST', '/workspaces', { body: { name: 'Beside' } })).body.id;
    const body = { name: 'Watched', slug: 'watched', config: { retry: { attempts: 2 } } };
    await plane.ask('POST', '/configs', { body: { ...body, workspace_id: other } });
    const { id } = (await plane.ask('POST', '/configs', { body: { ...body, workspace_id } })).body;
    const person = await newPerson(plane, 'owner');
    await plane.ask('PUT', '/configs/watched', { body: { name: 'Renamed', workspace_id }, key: person.token });
    const refused = await plane.ask('PUT', '/configs/watched', { body: { config: { retry: 'often' }, workspace_id } });
    expect(refused.status).toBe(400);
    await plane.ask('DELETE', `/configs/watched?workspace_id=${workspace_id}`);
    const tested = await plane.ask('POST', `/webhooks/${slug}/test`, { body: { workspace_id } });
    expect(tested.status).toBe(200);
    const check = { id: 'default.contains', parameters: { words: ['a'], operator: 'none' } };
    const rated = await plane.ask('POST', '/feedback', { key: plane.workspaceKey, body: { trace_id: 't', value: 1 } });
    expect(rated.status).toBe(200);
    const guardrail = await plane.ask('POST', '/guardrails', { body: { name: 'G', checks: [check], actions: {}, workspace_id } });
    expect(guardrail.body).toMatchObject({ slug: expect.any(String) });
    const list = async () => (await plane.ask('GET', `/webhooks/${slug}/deliveries`)).body;
    await until(async () => (await list()).data.filter((one: { status: string }) => one.status === 'delivered').length === 6, {
      what: 'six deliveries, the first of which is about the webhook itself',
    });
    expect((await plane.ask('DELETE', `/webhooks/${slug}`)).status).toBe(200);
    const forced = { name: 'Beside', force_delete: true };
    expect((await plane.ask('DELETE', `/workspaces/${other}`, { body: forced })).status).toBe(200);
    const changes = received.map((one) => JSON.parse(one.body)).filter(({ type }) => type === 'item.changed');
    const events = changes.filter(({ data }) => data.resource === 'configs');
    const others = changes.filter(({ data }) => data.resource !== 'configs').map(({ data }) => [data.action, data.slug]);
    expect(others.sort()).toEqual(
      [
        ['create', slug],
        ['create', guardrail.body.slug],
      ].sort(),
    );
    const common = { resource: 'configs', id, slug: 'watched', workspace_id, organisation_id: plane.organisationId };
    const changed_by = { type: 'api_key', id: expect.any(String) };
    const of = (action: string) => ({ ...common, action, changed_by });
    const sent = events.map(({ data }) => data).sort((one, two) => one.action.localeCompare(two.action));
    expect(sent).toEqual([of('create'), of('delete'), { ...of('update'), changed_by: { type: 'user', id: person.id } }]);
  });

  it('a paused webhook receives test events only', async () => {
    const { slug } = await create({ events: ['item.changed'], status: 'paused' });
    expect((await plane.ask('POST', '/webhooks', { body: valid() })).status).toBe(200);
    const { id } = (await plane.ask('POST', `/webhooks/${slug}/test`)).body;
    await deliveryOf(slug, id, 'delivered');
    expect((await plane.ask('GET', `/webhooks/${slug}/deliveries`)).body).toMatchObject({ total: 1, data: [{ id }] });
  });

  it('a failed delivery waits for another attempt, and a replay sends it at once under the same id', async () => {
    const { slug } = await create();
    received.length = 0;
    status = 500;
    const { id } = (await plane.ask('POST', `/webhooks/${slug}/test`)).body;
    const read = async () => (await plane.ask('GET', `/webhooks/${slug}/deliveries/${id}`)).body;
    await until(async () => (await read()).attempts === 1, { what: 'the first attempt' });
    expect(await read()).toMatchObject({ status: 'pending', response_status: 500, error: 'the receiver replied with 500' });
    status = 204;
    await plane.ask('POST', `/webhooks/${slug}/deliveries/${id}/replay`);
    expect(await deliveryOf(slug, id, 'delivered')).toMatchObject({ attempts: 1, response_status: 204 });
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
    expect((await plane.ask('GET', `/webhooks/${slug}/deliveries?status=delivered`)).body).toMatchObject({
      total: 1,
      data: [{ id }],
    });
  });

  it('a receiver that does not respond or redirects is no success', async () => {
    status = 302;
    const { slug } = await create();
    const { id } = (await plane.ask('POST', `/webhooks/${slug}/test`)).body;
    const gone = await create({ url: `http://127.0.0.1:${await freePort()}/hook` });
    const { id: other } = (await plane.ask('POST', `/webhooks/${gone.slug}/test`)).body;
    const read = async (of: string, one: string) => (await plane.ask('GET', `/webhooks/${of}/deliveries/${one}`)).body;
    await until(async () => (await read(slug, id)).attempts === 1 && (await read(gone.slug, other)).attempts === 1, {
      what: 'both attempts',
    });
    expect(await read(slug, id)).toMatchObject({ status: 'pending', response_status: 302 });
    expect(await read(gone.slug, other)).toMatchObject({ status: 'pending', response_status: null, error: expect.any(String) });
    status = 200;
  });
});

it('signatures: match the example of the specification', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const headers = signatureHeaders(secret, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330_000, '{"test": 2432232314}');
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});
