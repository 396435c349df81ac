import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as v from 'valibot';
import { documentKinds } from '../contract/protocol/documents.ts';
import { seal, unseal } from '../contract/values/credentials/secret.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { StoredDocument } from './document-store.ts';

/** The documents of the process, and the revision they were in step with. */
export interface KnownGood {
  readonly lastRevision: number;
  /** Distinguishes the change with this revision; null if unknown. */
  readonly mark: string | null;
  readonly documents: readonly StoredDocument[];
  /** Pepper of the digests in the keys among the documents, base64; absent if the control plane has not sent it yet. */
  readonly apiKeyPepper?: string | undefined;
}

export interface LastKnownGoodOptions {
  /** `DATA_DIR/last-known-good`. */
  readonly directory: string;
  /** Number of this process among the gateways of the machine: each writes its own file. */
  readonly slot: number;
  /** 32 bytes for this purpose alone. */
  readonly key: Uint8Array;
  /** Key of files that were written before ENCRYPTION_KEY was replaced. */
  readonly earlierKey?: Uint8Array | null;
  readonly log: Log;
}

/**
 * The file has one line of JSON (`format`, `fileId`, `lines`), then that many sealed lines. The first holds `lastRevision`, the
 * others up to 64 documents each. Every line is bound to its file and position, so that lines cannot be moved or mixed.
 */
const head = v.object({ format: v.literal(1), fileId: v.pipe(v.string(), v.uuid()), lines: v.number() });
const summary = v.object({
  lastRevision: v.number(),
  mark: v.optional(v.nullable(v.string()), null),
  apiKeyPepper: v.optional(v.string()),
});
const storedDocuments = v.array(
  v.object({
    kind: v.picklist(documentKinds),
    id: v.string(),
    document: v.unknown(),
    revision: v.number(),
    fresh: v.boolean(),
  }),
);
const documentsPerLine = 64;
const namePattern = /^slot-(\d+)\.lkg$/;

/** Writes this process's file atomically, readable by its owner only. Yields between lines, so that requests continue. */
export async function writeLastKnownGood(options: LastKnownGoodOptions, known: KnownGood): Promise<void> {
  const { directory, slot, key } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const fileId = randomUUID();
  const lines = 1 + Math.ceil(known.documents.length / documentsPerLine);
  const path = join(directory, `slot-${slot}.lkg`);
  const draft = join(directory, `.slot-${slot}.${process.pid}.draft`);
  const file = await open(draft, 'w', 0o600);
  try {
    await file.write(`${JSON.stringify({ format: 1, fileId, lines })}\n`);
    const { documents, ...first } = known;
    await file.write(`${seal(key, JSON.stringify(first), contextOf(fileId, 0))}\n`);
    for (let line = 1; line < lines; line += 1) {
      const part = documents.slice((line - 1) * documentsPerLine, line * documentsPerLine);
      await file.write(`${seal(key, JSON.stringify(part), contextOf(fileId, line))}\n`);
      await nextTurn();
    }
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/**
 * Returns the documents that the processes of this machine had when they last wrote. If two processes had the same document, the
 * one that was in step for longer wins. Documents from a file that fell behind are marked as not fresh. Null if there is nothing
 * usable. A file that is broken or sealed with another key is skipped with a warning.
 */
export async function readLastKnownGood(options: LastKnownGoodOptions): Promise<KnownGood | null> {
  const names = await readdir(options.directory).catch(() => [] as string[]);
  const files: KnownGood[] = [];
  for (const name of names) {
    if (!namePattern.test(name)) {
      await removeOldDraft(options, name);
      continue;
    }
    try {
      files.push(await readOne(options, join(options.directory, name)));
    } catch (error) {
      options.log.warn(
        { file: name, reason: reasonOf(error) },
        'a last-known-good file was written with other keys or by another version, or is damaged. It is skipped and will be replaced',
      );
    }
  }
  return merge(files);
}

/** Returns the documents of the other processes of the machine, of which there are `slots` with this one. Files that cannot be read are skipped. */
export async function readOtherProcesses(options: LastKnownGoodOptions, slots: number): Promise<readonly StoredDocument[]> {
  const files: KnownGood[] = [];
  for (let slot = 0; slot < slots; slot += 1) {
    const file =
      slot === options.slot ? null : await readOne(options, join(options.directory, `slot-${slot}.lkg`)).catch(() => null);
    if (file !== null) files.push(file);
  }
  return merge(files)?.documents ?? [];
}

async function readOne({ key, earlierKey }: LastKnownGoodOptions, path: string): Promise<KnownGood> {
  const lines = (await readFile(path, 'latin1')).split('\n');
  const { fileId, lines: sealedLines } = v.parse(head, JSON.parse(lines[0] ?? ''));
  const open = (one: Uint8Array, line: number) => unseal(one, lines[line + 1] ?? '', contextOf(fileId, line)).toString('utf8');
  const read = (line: number) => {
    try {
      return JSON.parse(open(key, line));
    } catch (error) {
      if (!earlierKey) throw error;
      return JSON.parse(open(earlierKey, line));
    }
  };
  const { lastRevision, mark, apiKeyPepper } = v.parse(summary, read(0));
  const documents: StoredDocument[] = [];
  for (let line = 1; line < sealedLines; line += 1) {
    documents.push(...v.parse(storedDocuments, read(line)));
    await nextTurn();
  }
  return { lastRevision, mark, documents, apiKeyPepper };
}

function merge(files: KnownGood[]): KnownGood | null {
  const newest = files.sort((a, b) => b.lastRevision - a.lastRevision)[0];
  if (!newest) return null;
  const byKey = new Map<string, StoredDocument>();
  for (const file of files) {
    for (const document of file.documents) {
      const key = `${document.kind} ${document.id}`;
      const fresh = document.fresh && file.lastRevision === newest.lastRevision && file.mark === newest.mark;
      const known = byKey.get(key);
      if (!known || (fresh && !known.fresh)) byKey.set(key, fresh === document.fresh ? document : { ...document, fresh });
    }
  }
  const apiKeyPepper = files.find((file) => file.apiKeyPepper !== undefined)?.apiKeyPepper;
  return { lastRevision: newest.lastRevision, mark: newest.mark, documents: [...byKey.values()], apiKeyPepper };
}

/** A draft of this slot was left by a process that was killed while it wrote. */
async function removeOldDraft(options: LastKnownGoodOptions, name: string): Promise<void> {
  if (name.startsWith(`.slot-${options.slot}.`)) await rm(join(options.directory, name), { force: true });
}

function contextOf(fileId: string, line: number): string {
  return `last-known-good/${fileId}/${line}`;
}

function reasonOf(error: unknown): string {
  return error instanceof v.ValiError ? 'not in the expected form' : messageOf(error);
}
