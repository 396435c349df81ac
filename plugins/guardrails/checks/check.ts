import type { GenericSchema } from 'valibot';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../../core/contract/plugin/core-plugin.ts';
import type { GuardrailSide } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import type { AddedCheck } from '../../../core/contract/plugin/guardrails/plugin-check.ts';
import type { DocumentReader, Services } from '../../../core/contract/plugin/plugin.ts';
import type { CallProvider } from '../../../core/contract/plugin/services/provider-call.ts';
import type { SignAws } from '../../../core/contract/plugin/services/sign-aws.ts';
import type { TaskRunner } from '../../../core/contract/plugin/services/worker-tasks.ts';
import type { OperationName } from '../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import type { Log } from '../../../core/contract/values/log/log.ts';
import type { Maybe } from '../../../core/contract/values/maybe.ts';
import type { TextPart } from '../every-text.ts';
import type { WindowSearch } from '../window/search.ts';

export type Side = GuardrailSide;
/** A side with text. */
export type TextSide = Exclude<Side, 'start'>;

/** A request or response as a check sees it. */
export interface Subject {
  readonly ctx: RequestContext;
  readonly side: Side;
  /** The request body, on the output side the response body, at the start an empty object. */
  readonly body: JsonObject;
  readonly operation: OperationName | null;
  /** Function name of the route: an operation, `proxy` or `realtime`. */
  readonly requestType: string;
  readonly model: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** The texts in the scope of the check. For tools also the names of members and the numbers in arguments. */
  readonly parts: readonly TextPart[];
  /** The text values among them, joined by line breaks. */
  readonly text: string;
}

export interface Outcome {
  readonly verdict: boolean;
  readonly data: JsonObject | null;
  /** The check could not decide. */
  readonly error?: { readonly name: string; readonly message: string } | undefined;
  /** Reason for the log. Results in replies do not show it. */
  readonly reason?: string;
  /** The changed body; absent: nothing was changed. */
  readonly body?: JsonObject | undefined;
}

export interface CheckServices {
  readonly tasks: TaskRunner;
  readonly fetch: Services['fetch'];
  /** Absent where configs are only checked. */
  readonly log?: Log;
  /** Absent where no request is served. */
  readonly documents?: DocumentReader;
  /** Calls a stored provider; absent where no request is served. */
  readonly callProvider?: CallProvider;
  /** Signs calls to AWS; absent where no request is served. */
  readonly signAws?: SignAws;
  /** Prefixes of the gateway's headers in this deployment; absent: the default one. */
  readonly headerPrefixes?: readonly string[];
  /** Lower-case names of the client headers that select a model; absent where no request is served. */
  readonly modelHeaders?: readonly string[];
  /** Returns the models in fields of a pass-through body that one provider knows; absent where no request is served. */
  readonly modelsInBody?: CoreServices['modelsInBody'];
  /** Returns the models that a pass-through path may select; absent where no request is served. */
  readonly modelsInPath?: CoreServices['modelsInPath'];
  /** Checks of third-party plugins by id; absent: there are none. */
  readonly addedChecks?: ReadonlyMap<string, AddedCheck>;
}

/** One kind of check. `checks/index.ts` lists them all. */
export interface Check<Parameters = unknown> {
  /** With its prefix: `default.contains`. */
  readonly id: string;
  readonly sides: readonly Side[];
  /** True: it reads no text, so that it runs on routes without text too. */
  readonly readsNoText?: true;
  /** True: it judges the models that a body names. It also runs on events of realtime sessions that name one. */
  readonly readsModels?: true;
  /**
   * True, or true for these parameters: it can change the body. Such checks of one side run one after the other, each on the body that the
   * previous one returned.
   */
  readonly changes?: true | ((parameters: Parameters) => boolean);
  /**
   * Returns true if these parameters redact personal data or secrets. If such a check has an error, the guardrail denies, unless
   * `failOnError` is false.
   */
  readonly redacts?: (parameters: Parameters) => boolean;
  /**
   * True, or true for these parameters: it demands a form of the whole reply, such as its length, instead of finding what must not be there. Such a
   * check does not run on errors of providers.
   */
  readonly demandsForm?: true | ((parameters: Parameters) => boolean);
  readonly parameters: GenericSchema<unknown, Parameters>;
  /** Prepares a check once per config version. Throws an Error with the reason if the parameters cannot be used. */
  prepare(parameters: Parameters, services: CheckServices): (subject: Subject) => Maybe<Outcome>;
  /**
   * Prepares the check for streams whose text is decided in a window. Returns the reason if these parameters need the whole text. Absent:
   * the check always needs the whole text.
   */
  prepareWindow?(parameters: Parameters, services: CheckServices): WindowSearch | string;
}

/** Lets the compiler check a declaration where it is written. */
export function defineCheck<Parameters>(check: Check<Parameters>): Check {
  return check as Check;
}

/** Sides that have text. */
export const bothSides: readonly Side[] = ['input', 'output'];
/** Sides of checks that need nothing but headers, metadata, route and caller of a request. */
export const requestSides: readonly Side[] = ['start', 'input'];

const excerptCharsMax = 100;

/** Returns the beginning of a text for results. */
export function excerpt(text: string): string {
  return text.length > excerptCharsMax ? `${text.slice(0, excerptCharsMax)}...` : text;
}

/** The outcome of a check that finds no text. */
export function noText(message: string, what: string, data: JsonObject): Outcome {
  return {
    verdict: false,
    data: { explanation: `An error occurred while processing ${what}: ${message}`, ...data, textExcerpt: 'No text available' },
    error: { name: 'Error', message },
  };
}
