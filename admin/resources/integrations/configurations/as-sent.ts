import { AdminError } from '../../../http/errors.ts';

interface SentSettings {
  readonly configurations?: object | null | undefined;
  /** The older spelling of `configurations`. */
  readonly credentials?: object | null | undefined;
}

/** Runs `work` with the settings of a request. Its errors name members of `credentials` as they were sent. */
export async function namedAsSent<T>({ configurations, credentials }: SentSettings, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!credentials || !(thrown instanceof AdminError) || !field.test(thrown.message)) throw thrown;
    const asSent = (text: string): string =>
      text.replace(field, (path, name?: string) => {
        const isSent = !configurations || (name !== undefined && Object.hasOwn(credentials, name));
        return isSent ? path.replace('configurations', 'credentials') : path;
      });
    throw new AdminError(thrown.code, asSent(thrown.message), thrown.errors?.map(asSent) ?? null, thrown.status);
  }
}

const field = /^configurations\b(?:\.([^.:[\s]+))?/;
