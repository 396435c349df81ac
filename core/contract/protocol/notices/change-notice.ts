import * as v from 'valibot';
import { documentKinds } from '../documents.ts';

/** A notice that a document changed. It does not hold the new content. Revisions are gapless and in commit order. */
export const changeNotice = v.object({
  revision: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  kind: v.picklist(documentKinds),
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(600)),
  op: v.picklist(['upsert', 'delete']),
});
export type ChangeNotice = v.InferOutput<typeof changeNotice>;

/** The subject (NATS) and message type (cluster IPC) that carry change notices, one JSON notice per message. */
export const changesSubject = 'svc.changes';
