import type { GuardrailRecord } from '../contract/plugin/guardrails/guardrail-result.ts';
import type { AttemptRecord, RequestRecord, RequestTimes, SavedCall } from '../contract/plugin/record/record.ts';
import { ownBytes } from '../contract/values/bodies/own-bytes.ts';
import { isEmptyObject } from '../contract/values/json/json.ts';
import { compileNumbers } from './compile-members.ts';
import type { LineBuffer } from './line-buffer.ts';
import { PartCache } from './part-cache.ts';
import {
  attemptNames,
  attemptNumberNames,
  callerNames,
  callNames,
  checkNames,
  guardrailNames,
  numberNames,
  onlyNulls,
  rareMembers,
  timeNames,
} from './record-parts.ts';

const named = (name: string): Buffer => Buffer.from(`,"${name}":`);

const names = {
  id: Buffer.from('{"id":'),
  traceId: named('traceId'),
  createdAt: named('createdAt'),
  path: named('path'),
  rawUsage: named('rawUsage'),
  clientAddress: named('clientAddress'),
  metadata: named('metadata'),
  times: named('times'),
  guardrails: named('guardrails'),
  checks: named('checks'),
  attempts: named('attempts'),
  durationMs: named('durationMs'),
  noMembers: Buffer.from('{}'),
  onlyNulls: Buffer.from(onlyNulls),
  end: Buffer.from('}\n'),
};

const addNumbers = compileNumbers<RequestRecord>(numberNames);
const addAttemptNumbers = compileNumbers<AttemptRecord>(attemptNumberNames);
const addTimes = compileNumbers<RequestTimes>(timeNames);

/** More bytes than the names and numbers of a record take. */
const memberBytes = 2048;
/** More bytes than the names and numbers of an attempt, of a guardrail or of a check take. */
const itemBytes = 256;

/** Writes records as lines of JSON, equal to those of `JSON.stringify` but for the order of their members. */
export class RecordEncoder {
  readonly #callers = new PartCache<RequestRecord>(callerNames);
  readonly #calls = new PartCache<RequestRecord>(callNames);
  readonly #attempts = new PartCache<AttemptRecord>(attemptNames);
  readonly #guardrails = new PartCache<GuardrailRecord>(guardrailNames);
  readonly #checks = new PartCache<GuardrailRecord['checks'][number]>(checkNames);
  /** Members by their value: all hits of a cached reply share one object. */
  readonly #saved = new WeakMap<SavedCall, Uint8Array>();

  /** Adds the line of a record. */
  add(lines: LineBuffer, record: RequestRecord): void {
    const { id, traceId, createdAt, path, clientAddress } = record;
    const caller = this.#callers.find(record.tokenSubject ?? record.apiKeyId ?? '', record);
    const call = this.#calls.find(record.model ?? '', record);
    const rare = rareMembers(record);
    const rawUsage = record.rawUsage === null ? 'null' : JSON.stringify(record.rawUsage);
    const metadata = isEmptyObject(record.metadata) ? '' : JSON.stringify(record.metadata);
    const quoted = id.length + traceId.length + createdAt.length + path.length + clientAddress.length;
    const texts = rawUsage.length + metadata.length + rare.length;
    lines.reserve(memberBytes + caller.length + call.length + 6 * quoted + 3 * texts);
    lines.part(names.id);
    lines.string(id);
    lines.part(names.traceId);
    lines.string(traceId);
    lines.part(names.createdAt);
    lines.string(createdAt);
    lines.part(caller);
    lines.part(call);
    lines.part(names.path);
    lines.string(path);
    addNumbers(lines, record);
    lines.part(names.rawUsage);
    lines.text(rawUsage);
    lines.part(names.clientAddress);
    lines.string(clientAddress);
    lines.part(names.metadata);
    if (metadata === '') lines.part(names.noMembers);
    else lines.text(metadata);
    if (record.times !== undefined) {
      lines.part(names.times);
      const start = lines.length;
      addTimes(lines, record.times);
      lines.enclose(start, '{', '}');
    }
    if (rare === onlyNulls) lines.part(names.onlyNulls);
    else lines.text(rare);
    if (record.saved !== undefined) this.#addSaved(lines, record.saved);
    if (record.guardrails !== undefined) this.#addGuardrails(lines, record.guardrails);
    this.#addAttempts(lines, record.attempts);
    lines.part(names.end);
  }

  #addSaved(lines: LineBuffer, saved: SavedCall): void {
    let part = this.#saved.get(saved);
    if (part === undefined) {
      part = ownBytes(Buffer.from(`,"saved":${JSON.stringify(saved)}`));
      this.#saved.set(saved, part);
    }
    // Room for the rest of the record too.
    lines.reserve(memberBytes + part.length);
    lines.part(part);
  }

  #addAttempts(lines: LineBuffer, attempts: readonly AttemptRecord[]): void {
    lines.part(names.attempts);
    const start = lines.length;
    for (let i = 0; i < attempts.length; i++) {
      const attempt = attempts[i] as AttemptRecord;
      const part = this.#attempts.find(attempt.model ?? '', attempt);
      lines.reserve(itemBytes + part.length);
      lines.comma();
      const begin = lines.length;
      lines.part(part);
      addAttemptNumbers(lines, attempt);
      lines.enclose(begin, '{', '}');
    }
    lines.enclose(start, '[', ']');
  }

  #addGuardrails(lines: LineBuffer, guardrails: readonly GuardrailRecord[]): void {
    lines.reserve(itemBytes);
    lines.part(names.guardrails);
    const start = lines.length;
    for (let i = 0; i < guardrails.length; i++) {
      const guardrail = guardrails[i] as GuardrailRecord;
      const part = this.#guardrails.find(guardrail.id, guardrail);
      lines.reserve(itemBytes + part.length);
      lines.comma();
      const begin = lines.length;
      lines.part(part);
      lines.member(names.durationMs, guardrail.durationMs);
      this.#addChecks(lines, guardrail.checks);
      lines.enclose(begin, '{', '}');
    }
    // Room for the rest of the record and for the brackets.
    lines.reserve(memberBytes);
    lines.enclose(start, '[', ']');
  }

  #addChecks(lines: LineBuffer, checks: GuardrailRecord['checks']): void {
    lines.part(names.checks);
    const start = lines.length;
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i] as GuardrailRecord['checks'][number];
      const part = this.#checks.find(check.id, check);
      lines.reserve(itemBytes + part.length);
      lines.comma();
      const begin = lines.length;
      lines.part(part);
      lines.member(names.durationMs, check.durationMs);
      lines.enclose(begin, '{', '}');
    }
    lines.enclose(start, '[', ']');
  }
}
