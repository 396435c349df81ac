import type { HeaderList } from '../../values/http/http.ts';

/** A POST to a service of AWS, to be signed. */
export interface AwsCall {
  readonly url: string;
  readonly headers: HeaderList;
  readonly body: string;
  /** Name of the service and region in the signature. */
  readonly service: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

/** Returns the headers of a call with its signature version 4. */
export type SignAws = (call: AwsCall) => Promise<HeaderList>;
