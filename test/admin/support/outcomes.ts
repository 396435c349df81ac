import { expect } from 'vitest';
import type { Plane, Reply } from './plane.ts';

/** The effects that a successful change must have besides its reply. */
export interface Trace {
  readonly resource: string;
  readonly action: string;
  /** `kind id op` of each event, in order. */
  readonly events: readonly string[];
}

/** Runs a change and checks its status, its audit entry, and exactly these events with the next revisions. */
export async function expectChange(plane: Plane, change: () => Promise<Reply>, trace: Trace): Promise<Reply> {
  const before = await plane.events();
  const audits = await plane.auditCount();
  const reply = await change();
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  const after = await plane.events();
  const added = after.slice(before.length);
  expect(added.map((event) => `${event.kind} ${event.documentId} ${event.op}`)).toEqual(trace.events);
  expect(after.map((event) => event.revision)).toEqual(after.map((_, index) => index + 1));
  expect(await plane.auditCount()).toBe(audits + 1);
  const audit = await plane.lastAudit();
  expect(audit).toMatchObject({ resourceType: trace.resource, action: trace.action, responseStatusCode: 200, errorCode: null });
  expect(audit.requestId).toBe(reply.headers.get('x-svc-request-id'));
  expect(audit.resourceId).not.toBeNull();
  return reply;
}

/**
 * Runs a request that must be rejected. Checks the status, the code, that there is no event, and that there is an audit entry exactly
 * if the request would have changed something.
 */
export async function expectRefusal(
  plane: Plane,
  request: () => Promise<Reply>,
  status: number,
  code: string,
  audited: boolean,
): Promise<Reply> {
  const events = (await plane.events()).length;
  const audits = await plane.auditCount();
  const reply = await request();
  expect({ status: reply.status, code: reply.body.data?.errorCode }, JSON.stringify(reply.body)).toEqual({ status, code });
  expect(reply.body.success).toBe(false);
  expect(typeof reply.body.data.message).toBe('string');
  expect((await plane.events()).length).toBe(events);
  expect(await plane.auditCount()).toBe(audits + (audited ? 1 : 0));
  if (audited) expect(await plane.lastAudit()).toMatchObject({ responseStatusCode: status, errorCode: code });
  return reply;
}
