import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordContent } from '../../../../core/contract/protocol/record-contents.ts';
import { sampleRecord } from '../../../support/sample-record.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';

describe.each(databases)('headers and bodies of requests, on %s', (name) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(name);
  });
  afterAll(() => plane?.close());

  const em = () => plane.control.services.database.em();
  async function store(text: string): Promise<RecordContent> {
    const { organisationId, workspaceId } = plane;
    const record = sampleRecord({ organisationId, workspaceId });
    const side = { headers: { 'content-type': 'application/json' }, body: { text }, omitted: null };
    const prompt = { variables: { text }, omitted: null };
    const tenant = { organisationId, workspaceId };
    const content = { id: record.id, createdAt: record.createdAt, ...tenant, request: side, response: side, prompt };
    await plane.internal('POST', '/records', [record]);
    expect(await plane.internal('POST', '/record-contents', [content])).toMatchObject({ status: 200 });
    return content;
  }

  it('are stored once, sealed, and shown with the log', async () => {
    const content = await store('a very private sentence');
    const other = { ...content, request: { ...content.request, body: 'other' } };
    expect((await plane.internal('POST', '/record-contents', [other])).status).toBe(200);
    const { body } = await plane.ask('GET', `/logs/${content.id}`);
    expect(body.request).toMatchObject({ method: 'POST', ...content.request });
    expect(body.response).toMatchObject({ status: 200, ...content.response });
    expect(body.prompt).toEqual(content.prompt);
    const [row] = await em().execute<[{ raw: string }]>(
      "select encode(content, 'escape') as raw from record_contents where id = ?",
      [content.id],
    );
    expect(row.raw).not.toContain('private');
  });

  it('cannot be read by another organisation, nor opened as those of another request', async () => {
    const content = await store('of the first organisation');
    const other = await plane.newTenant();
    expect((await plane.ask('GET', `/logs/${content.id}`, { key: other.adminKey })).status).toBe(404);
    const ofOther = plane.control.services.database.emOf(other.organisationId);
    expect(await ofOther.transactional((tx) => tx.execute('select id from record_contents'))).toEqual([]);
    const moved = await store('another');
    await em().execute('update record_contents set content = (select content from record_contents where id = ?) where id = ?', [
      content.id,
      moved.id,
    ]);
    expect((await plane.ask('GET', `/logs/${moved.id}`)).status).toBe(500);
  });

  it('are rejected if their form is wrong, with the name of the field', async () => {
    const content = await store('valid');
    const wrong = await plane.internal('POST', '/record-contents', [{ ...content, organisationId: 'x' }]);
    expect(wrong.status).toBe(400);
    expect(JSON.stringify(wrong.body)).toContain('organisationId');
    expect(
      (
        await plane.internal(
          'POST',
          '/record-contents',
          Array.from({ length: 101 }, () => content),
        )
      ).status,
    ).toBe(400);
  });
});
