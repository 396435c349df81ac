import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewMail } from '../../../../admin/mail/add-mails.ts';
import { apiKeys } from '../../../../admin/resources/api-keys/entity.ts';
import { announceRotations, forgetOldSecrets } from '../../../../admin/resources/api-keys/rotation-notices.ts';
import { noticeMs } from '../../../../admin/resources/api-keys/rotation-policy.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { addPerson, setRow } from './people.ts';

describe.each(ruleDatabases)('rotation notices, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const em = () => plane.control.services.database.em();

  async function tell(now: Date, on = true): Promise<NewMail[]> {
    const mails: NewMail[] = [];
    const mailer = { on, add: async (_tx: unknown, added: readonly NewMail[]) => void mails.push(...added), wake: () => {} };
    await announceRotations(em(), mailer, now, () => false);
    return mails;
  }

  it('are sent to all users responsible for the key, a day ahead, once per cycle', async () => {
    const owner = await addPerson(plane);
    const manager = await addPerson(plane, 'member', 'manager');
    const admin = await addPerson(plane, 'admin', null);
    await addPerson(plane);
    const { id } = (
      await plane.ask('POST', '/api-keys/workspace/user', {
        body: {
          name: 'Nightly job',
          user_id: owner,
          scopes: ['completions.write'],
          alert_emails: ['team@example.com'],
          rotation_policy: { rotation_period: 'monthly' },
        },
      })
    ).body;
    const due = Date.now() + 3_600_000;
    const secretExpiresAt = new Date(due + 1_800_000);
    // A name from before the rule that forbids it.
    await setRow(plane, id, { name: 'Nightly\njob', nextRotationAt: new Date(due), secretExpiresAt });
    expect(await tell(new Date(due - noticeMs - 1_000))).toEqual([]);
    expect(await tell(new Date(due - noticeMs + 1_000), false)).toEqual([]);
    const mails = await tell(new Date(due - noticeMs + 1_000));
    const expected = [owner, manager, admin].map((user) => `${user}@example.com`).concat('team@example.com');
    expect(mails.map((mail) => mail.to).sort()).toEqual(expected.sort());
    expect(mails[0]?.subject).toBe('The API key "Nightly job" must be rotated');
    expect(mails[0]?.text).toContain(new Date(due).toISOString());
    expect(mails[0]?.text).toContain(secretExpiresAt.toISOString());
    expect(await tell(new Date(due - 1_000))).toEqual([]);

    // A rotation after the notice completes the due rotation.
    await plane.ask('POST', `/api-keys/${id}/rotate`, { body: {} });
    const next = (await em().findOneOrFail(apiKeys, { id })).nextRotationAt?.getTime() ?? 0;
    expect(next).toBeGreaterThan(due);
    expect(await tell(new Date(next - 1_000))).toHaveLength(mails.length);
  });

  it('digests: the old one is deleted after its transition', async () => {
    const { id } = (await plane.ask('POST', '/api-keys/workspace/service', { body: { name: 'F', scopes: ['configs.list'] } }))
      .body;
    const ends = Date.parse((await plane.ask('POST', `/api-keys/${id}/rotate`, { body: {} })).body.key_transition_expires_at);
    const previous = async () => (await em().findOneOrFail(apiKeys, { id })).previousDigest;
    await forgetOldSecrets(em(), new Date(ends - 1_000));
    expect(await previous()).not.toBeNull();
    await forgetOldSecrets(em(), new Date(ends + 1_000));
    expect(await previous()).toBeNull();
  });
});
