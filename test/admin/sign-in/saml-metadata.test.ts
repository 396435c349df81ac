import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refreshMetadata } from '../../../admin/resources/sso-connections/refresh-metadata.ts';
import { ssoConnectionRoutes } from '../../../admin/resources/sso-connections/routes.ts';
import { outboundCallMs } from '../../../core/contract/protocol/control-plane-calls/outbound-call.ts';
import { FakeSamlProvider } from '../../support/fakes/fake-saml-provider.ts';
import { until } from '../../support/until.ts';
import type { Plane } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('metadata of a SAML provider, on %s', (database) => {
  let provider: FakeSamlProvider;
  let host: Server;
  /** Seconds until the metadata of the host expires. Undefined: it has no end. */
  let validUntil: number | undefined;
  let plane: Plane;
  beforeAll(async () => {
    provider = await FakeSamlProvider.create();
    host = createServer((_, response) => response.end(provider.metadata(undefined, validUntil))).listen(0, '127.0.0.1');
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

  it('are rejected after the end that they state, of any element around the provider', async () => {
    const until = (time: string) => provider.metadata().replace(' entityID=', ` validUntil="${time}" entityID=`);
    const outer = `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" validUntil="2020-01-01T00:00:00">`;
    for (const [metadata_xml, reason] of [
      [until('2020-01-01T00:00:00Z'), /saml.metadata_xml: the metadata expired at 2020-01-01T00:00:00.000Z/],
      [
        `${outer}${until('2090-01-01T00:00:00Z').replace(/^.*-->/, '')}</EntitiesDescriptor>`,
        /expired at 2020-01-01T00:00:00.000Z/,
      ],
      [until('tomorrow'), /saml.metadata_xml: validUntil: a time such as/],
    ] as const) {
      const body = { name: 'Expired', type: 'saml', saml: { metadata_xml } };
      const reply = await plane.ask('POST', '/admin/sso-connections', { body });
      expect(reply.status).toBe(400);
      expect(reply.body.data.message).toMatch(reason);
    }
  });

  it('end sign-ins when they expire, until they are read again or certificates are entered', async () => {
    const metadata_url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/metadata`;
    const saml = { metadata_url, allow_idp_initiated: true };
    validUntil = 600;
    const made = await plane.ask('POST', '/admin/sso-connections', { body: { name: 'Short', type: 'saml', saml } });
    const path = `/admin/sso-connections/${made.body.id}`;
    const { services } = plane.control;
    const { organisationId } = plane;
    const run = { key: made.body.id, organisationId, payload: {}, signal: new AbortController().signal };
    const look = () => refreshMetadata(services)(run) as Promise<{ againInMs: number }>;
    const read = async () => (await plane.ask('GET', path)).body.saml;
    const { acs_url: recipient, entity_id: audience } = await read();
    /** The text about a response without a signature, which is read only with valid metadata. */
    const refusal = async () => {
      const SAMLResponse = await provider.respond({ recipient, audience, inResponseTo: null, sign: [] });
      const body = new URLSearchParams({ SAMLResponse });
      return (await fetch(plane.url + new URL(recipient).pathname, { method: 'POST', body })).text();
    };
    const expire = () =>
      services.database
        .emOf(organisationId)
        .transactional((tx) =>
          tx.execute('update sso_connections set metadata_valid_until = ? where id = ?', [new Date(0), made.body.id]),
        );
    const valid = (await read()).metadata_valid_until;
    expect(Date.parse(valid)).toBeGreaterThan(Date.now());
    const { againInMs } = await look();
    expect(againInMs).toBeGreaterThan(60_000);
    expect(againInMs).toBeLessThanOrEqual(300_000);
    expect(await refusal()).toContain('signed');
    const { revision } = (await plane.ask('GET', path)).body;
    await expire();
    expect(await refusal()).toContain('the metadata of the identity provider expired at 1970-01-01T00:00:00.000Z');
    validUntil = -1;
    expect(await look()).toEqual({ againInMs: 300_000 });
    expect((await read()).metadata_error).toMatch(/saml.metadata_url: the metadata expired at/);
    validUntil = undefined;
    expect(await look()).toEqual({ againInMs: 3_600_000 });
    expect(await read()).toMatchObject({ metadata_error: null, metadata_valid_until: null });
    expect((await plane.ask('GET', path)).body.revision).toBe(revision);
    await expire();
    const certificates = [provider.key.certificate];
    expect((await plane.ask('PUT', path, { body: { saml: { metadata_url: null, certificates } } })).status).toBe(200);
    expect(await refusal()).toContain('signed');
  });
});

it.each(['POST /admin/sso-connections', 'PUT /admin/sso-connections/:ssoConnectionId'])(
  'metadata of a SAML provider: %s waits longer than a gateway waits for the host, so that the error names the host',
  (name) => {
    const route = ssoConnectionRoutes.find(({ method, path }) => `${method} ${path}` === name);
    expect(route?.deadlineMs).toBeGreaterThan(outboundCallMs);
  },
);
