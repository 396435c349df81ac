import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refreshMetadata } from '../../../admin/resources/sso-connections/refresh-metadata.ts';
import { FakeSamlProvider } from '../../support/fakes/fake-saml-provider.ts';
import { until } from '../../support/until.ts';
import type { Plane } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('metadata of a SAML provider, on %s', (database) => {
  let provider: FakeSamlProvider;
  let host: Server;
  let plane: Plane;
  beforeAll(async () => {
    provider = await FakeSamlProvider.create();
    host = createServer((_, response) => response.end(provider.metadata())).listen(0, '127.0.0.1');
    await once(host, 'listening');
    plane = await startPlaneWithGateway(database, { TRUSTED_CUSTOM_HOSTS: '127.0.0.1' });
  });
  afterAll(async () => {
    await plane?.close();
    host?.close();
  });

  it('are read a minute after the last look if a response is rejected in between', async () => {
    const metadata_url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/metadata`;
    const saml = { metadata_url, allow_idp_initiated: true };
    const made = await plane.ask('POST', '/admin/sso-connections', { body: { name: 'Main', type: 'saml', saml } });
    const { id } = made.body;
    const { services } = plane.control;
    const { organisationId } = plane;
    const run = { key: id, organisationId, payload: {}, signal: new AbortController().signal };
    expect(await refreshMetadata(services)(run)).toEqual({ againInMs: 3_600_000 });
    const {
      acs_url: recipient,
      entity_id: audience,
      metadata_checked_at: checkedAt,
    } = (await plane.ask('GET', `/admin/sso-connections/${id}`)).body.saml;
    const SAMLResponse = await provider.respond({ recipient, audience, inResponseTo: null, sign: [] });
    const reply = await fetch(plane.url + new URL(recipient).pathname, {
      method: 'POST',
      body: new URLSearchParams({ SAMLResponse }),
    });
    expect(reply.status).toBe(401);
    const plannedMs = async () => {
      const em = services.database.emOf(organisationId);
      const [job] = await em.execute<{ run_at: Date | string }[]>('select run_at from jobs where key = ?', [id]);
      return new Date(job?.run_at ?? 0).getTime() - new Date(checkedAt).getTime();
    };
    await until(async () => (await plannedMs()) === 60_000, { what: 'a look a minute after the last one' });
  });
});
