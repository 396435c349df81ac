import { expect, it } from 'vitest';
import { addMails } from '../../admin/mail/add-mails.ts';
import { mails } from '../../admin/mail/entity.ts';
import { startControlPlane } from '../../admin/start-control-plane.ts';
import { startFakeMailServer } from '../support/fakes/fake-mail-server.ts';
import { newMemoryLog } from '../support/fakes/memory-log.ts';
import { startPlane } from './support/plane.ts';
import { ruleDatabase } from './support/test-database.ts';

it('a start that fails because of its port ends only when no mail is being sent', async () => {
  const server = await startFakeMailServer();
  const plane = await startPlane(ruleDatabase);
  const { database, vault } = plane.control.services;
  const about = { resource: 'users', uri: '/v1/admin/users/u', id: 'u', workspaceId: null };
  const mail = { kind: 'set-password', about, organisationId: plane.organisationId, to: 'a@example.com' } as const;
  await database.em().transactional((tx) => addMails(tx, vault, Date.now(), [{ ...mail, subject: 'S', text: 'T' }]));

  const smtp = { smtpUrl: `smtp://127.0.0.1:${server.port}`, smtpFrom: 'gateway@example.com' };
  const settings = { ...plane.settings, ...smtp, controlPlanePort: plane.control.port };
  await expect(startControlPlane(settings, { log: newMemoryLog(), database })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect([server.letters.length, await database.em().count(mails)]).toEqual([1, 0]);
  await plane.close();
  await server.close();
});
