import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectNats } from '../../../admin/publish/nats-publisher.ts';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { type ChangeNotice, changesSubject } from '../../../core/contract/protocol/notices/change-notice.ts';
import { openNotice } from '../../../core/contract/protocol/notices/sealed-notice.ts';
import { deriveKey } from '../../../core/contract/values/credentials/secret.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { type NatsServer, natsMissing, newNatsServer } from '../../support/processes/nats-server.ts';
import { until } from '../../support/until.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabase } from '../support/test-database.ts';

if (natsMissing) console.warn(`skipped: ${natsMissing}`);

describe.skipIf(natsMissing !== null)('notices over NATS', () => {
  let nats: NatsServer;
  let plane: Plane | undefined;
  beforeAll(async () => {
    nats = await newNatsServer();
  });
  afterAll(async () => {
    await plane?.close();
    await nats?.kill();
  });

  const received: ChangeNotice[] = [];
  const listen = async () => {
    const listener = await connect({ servers: nats.url });
    listener.subscribe(changesSubject, { callback: (_, message) => void received.push(message.json<ChangeNotice>()) });
    await listener.flush();
    return listener;
  };
  const changeSeen = async () => {
    await change();
    return received.length > 0;
  };
  const change = () => plane?.ask('POST', '/configs', { body: { name: 'x', config: { provider: '@mock' } } });

  it('are not needed to start and serve, and are published when NATS is available', async () => {
    plane = await startPlane(ruleDatabase, { NATS_URL: nats.url });
    expect((await change())?.status).toBe(200);
    await nats.start();
    const listener = await listen();
    await until(() => changeSeen(), { what: 'a first notice over NATS' });
    const events = await plane.events();
    expect(events.find((one) => one.revision === received[0]?.revision)).toMatchObject({
      kind: 'config',
      documentId: received[0]?.id,
    });
    await listener.close();
  });

  it('continue after NATS was killed', async () => {
    await nats.kill();
    expect((await change())?.status).toBe(200);
    received.length = 0;
    await nats.start();
    const listener = await listen();
    await until(() => changeSeen(), { what: 'a notice after the return' });
    await listener.close();
  });

  it('contain no e-mail address of a user, and gateways can read them', async () => {
    const listener = await listen();
    const jwks = { keys: [{ kty: 'RSA', kid: 'a', n: 'x'.repeat(342), e: 'AQAB' }] };
    const set = await plane?.ask('PUT', '/organisations/self/auth-settings', { body: { jwt: { jwks } } });
    expect(set?.status, JSON.stringify(set?.body)).toBe(200);
    received.length = 0;
    const email = 'ada.notice@example.com';
    expect((await plane?.ask('POST', '/admin/users', { body: { email, role: 'member' } }))?.status).toBe(200);
    const sent = await until(() => received.find(({ kind }) => kind === 'user'), { what: 'the notice of the user' });
    expect(JSON.stringify(received)).not.toContain('ada.notice');
    const key = deriveKey(plane?.settings.clusterKey ?? new Uint8Array(), keyPurposes.changeNotice);
    expect(openNotice(key, sent)?.id).toBe(`${plane?.organisationId}/${email}`);
    await listener.close();
  });

  it('never throw, even without a server', async () => {
    const publisher = connectNats('nats://127.0.0.1:1', new Uint8Array(32), newMemoryLog());
    expect(() => publisher.publish({ revision: 1, kind: 'workspace', id: 'x', op: 'upsert' })).not.toThrow();
    await publisher.close();
  });
});
