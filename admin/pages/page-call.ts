import type { Context } from 'hono';
import type { CallApi } from './call-api.ts';

/** The fields of a submitted form. Missing fields are empty. */
export type Form = (name: string) => string;

/** The request for a page, and the API that pages call. */
export interface PageCall {
  readonly c: Context;
  readonly api: CallApi;
}
