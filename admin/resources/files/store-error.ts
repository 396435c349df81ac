import { toAdminError } from '../../http/reply/write-error.ts';

/** A refusal by the store in the format of the data plane; gateways forward it unchanged. */
export class StoreError extends Error {
  readonly status: number;
  readonly param: string | null;

  constructor(status: number, message: string, param: string | null = null) {
    super(message);
    this.name = 'StoreError';
    this.status = status;
    this.param = param;
  }
}

/** 400 naming the field. */
export function badField(param: string, problem: string): StoreError {
  return new StoreError(400, `${param}: ${problem}`, param);
}

/** 404, the same whether it does not exist or belongs to someone else. */
export function noSuch(what: 'file' | 'batch', id: string): StoreError {
  return new StoreError(404, `No such ${what}: ${id.slice(0, 80)}`, 'id');
}

/** Converts any thrown value to an error reply. Unknown errors become 500 (503 if the database is unreachable) without their text. */
export function storeErrorReply(thrown: unknown): Response {
  const known = thrown instanceof StoreError ? thrown : null;
  const other = known ? null : toAdminError(thrown);
  const status = known?.status ?? other?.status ?? 500;
  const message = known?.message ?? other?.message ?? 'Something went wrong';
  const type = status < 500 ? 'invalid_request_error' : 'service_unavailable';
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (status === 503) headers['retry-after'] = '1';
  return new Response(JSON.stringify({ error: { message, type, param: known?.param ?? null, code: null } }), { status, headers });
}
