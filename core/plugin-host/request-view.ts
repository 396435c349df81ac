import type { RequestContext } from '../contract/plugin/context.ts';
import type { Target } from '../contract/plugin/plan.ts';
import type { PluginContext, PluginTarget, RequestHead } from '../contract/plugin/plugin-context.ts';
import { findHeader, type HeaderList } from '../contract/values/http/http.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import type { HiddenNames } from './hidden-names.ts';
import { readOnly, readOnlyNow } from './read-only.ts';

/** Returns the view of a request for plugins; always the same one. */
export function viewOf(ctx: RequestContext, hidden: HiddenNames): PluginContext {
  ctx.pluginView ??= new RequestView(ctx, hidden);
  return ctx.pluginView;
}

/** Returns the request of a view. Throws TypeError for every other object. */
export function requestOf(view: PluginContext): RequestContext {
  return contextOf(view);
}

/** Returns the parameters if a plugin has changed them since the last call; null otherwise. */
export function changedParamsOf(view: PluginContext): JsonObject | null {
  return takeChanged(view);
}

let takeChanged: (view: PluginContext) => JsonObject | null;

/** Reads the private field of a view. It is no member of the class, because plugins reach the class as `ctx.constructor`. */
let contextOf: (view: PluginContext) => RequestContext;

/** Returns what plugins see of a target; the same object for the same target. */
export function targetView(target: Target): PluginTarget {
  let view = targetViews.get(target);
  if (!view) {
    const { credentials: _, guardrails: __, ...visible } = target;
    view = readOnly(visible);
    targetViews.set(target, view);
  }
  return view;
}

const targetViews = new WeakMap<Target, PluginTarget>();

/**
 * Reads and writes a request. Plugins can access only the members listed here. Members that become part of the record are copies, so that a
 * plugin that sorts or changes them does not change the record.
 */
class RequestView implements PluginContext {
  readonly #ctx: RequestContext;
  readonly #hidden: HiddenNames;
  #head: RequestHead | null = null;
  #isChanged = false;
  #options: PluginContext['gatewayHeaders'] | null = null;
  /** The headers that `#options` were read from; the gateway replaces them when it reads options from the body. */
  #optionsFrom: PluginContext['gatewayHeaders'] | null = null;

  constructor(ctx: RequestContext, hidden: HiddenNames) {
    this.#ctx = ctx;
    this.#hidden = hidden;
  }

  static {
    contextOf = (view) => {
      if (!isObject(view) || !(#ctx in view)) throw new TypeError('expected the ctx of a hook');
      return (view as RequestView).#ctx;
    };
    takeChanged = (view) => {
      const own = view as RequestView;
      if (!own.#isChanged) return null;
      own.#isChanged = false;
      return own.#ctx.params;
    };
  }

  get request(): RequestHead {
    this.#head ??= visibleHead(this.#ctx, this.#hidden);
    return this.#head;
  }

  get gatewayHeaders(): PluginContext['gatewayHeaders'] {
    const { gatewayHeaders } = this.#ctx;
    if (this.#options === null || this.#optionsFrom !== gatewayHeaders) {
      this.#options = new Map([...gatewayHeaders].filter(([name, value]) => !this.#hidden.hasOption(name, value)));
      this.#optionsFrom = gatewayHeaders;
    }
    return this.#options;
  }

  get prompt(): PluginContext['prompt'] {
    const { prompt } = this.#ctx;
    if (prompt === null) return null;
    const { id, slug, versionId, version, label } = prompt.used;
    return { used: { id, slug, versionId, version, label } };
  }

  get metadata(): PluginContext['metadata'] {
    // A value written in place would not be checked, and one that is no text would make the record unstorable.
    return Object.freeze(this.#ctx.metadata);
  }

  set metadata(metadata: PluginContext['metadata']) {
    if (!isObject(metadata) || !Object.values(metadata).every((value) => typeof value === 'string'))
      throw new TypeError('ctx.metadata: expected an object whose values are texts');
    this.#ctx.metadata = { ...metadata };
  }

  get params(): JsonObject | null {
    // The plugin may change values in place.
    this.#ctx.bodyLayout = null;
    return isExplained(this.#ctx) ? null : this.#ctx.params;
  }

  set params(params: JsonObject) {
    if (!isObject(params)) throw new TypeError('ctx.params: expected an object');
    this.#ctx.setParams(params);
    this.#isChanged = true;
  }

  get bodyChanged(): boolean {
    return this.#ctx.bodyChanged;
  }

  set bodyChanged(isChanged: boolean) {
    this.#ctx.bodyChanged = isChanged;
    this.#isChanged = true;
  }

  get id(): PluginContext['id'] {
    return this.#ctx.id;
  }

  get receivedAtMs(): PluginContext['receivedAtMs'] {
    return this.#ctx.receivedAtMs;
  }

  get startedAtMs(): PluginContext['startedAtMs'] {
    return this.#ctx.startedAtMs;
  }

  get headerPrefix(): PluginContext['headerPrefix'] {
    return this.#ctx.headerPrefix;
  }

  get traceId(): PluginContext['traceId'] {
    return this.#ctx.traceId;
  }

  get endpoint(): PluginContext['endpoint'] {
    return this.#ctx.endpoint && readOnly(this.#ctx.endpoint);
  }

  get identity(): PluginContext['identity'] {
    return this.#ctx.identity && readOnly(this.#ctx.identity);
  }

  get configSlug(): PluginContext['configSlug'] {
    return this.#ctx.configSlug;
  }

  get configVersionId(): PluginContext['configVersionId'] {
    return this.#ctx.configVersionId;
  }

  /** Null for a body with `svc_options`, because these may hold credentials. */
  get body(): PluginContext['body'] {
    return this.#ctx.svcOptions === null && !isExplained(this.#ctx) ? this.#ctx.body : null;
  }

  get passedParams(): PluginContext['passedParams'] {
    return this.#ctx.passedParams;
  }

  get form(): PluginContext['form'] {
    return this.#ctx.form;
  }

  get model(): PluginContext['model'] {
    return this.#ctx.model;
  }

  get stream(): PluginContext['stream'] {
    return this.#ctx.stream;
  }

  get attempts(): PluginContext['attempts'] {
    // Their errors could not be cloned.
    return this.#ctx.attempts.map((attempt) => ({ ...attempt }));
  }

  get targetPath(): PluginContext['targetPath'] {
    return this.#ctx.targetPath;
  }

  get provider(): PluginContext['provider'] {
    return this.#ctx.provider;
  }

  get providerSlug(): PluginContext['providerSlug'] {
    return this.#ctx.providerSlug;
  }

  get retryAttemptCount(): PluginContext['retryAttemptCount'] {
    return this.#ctx.retryAttemptCount;
  }

  get verdicts(): PluginContext['verdicts'] {
    return structuredClone(this.#ctx.verdicts);
  }

  get guardrails(): PluginContext['guardrails'] {
    return structuredClone(this.#ctx.guardrails);
  }

  get decisions(): PluginContext['decisions'] {
    return structuredClone(this.#ctx.decisions);
  }

  get cacheStatus(): PluginContext['cacheStatus'] {
    return this.#ctx.cacheStatus;
  }

  get usage(): PluginContext['usage'] {
    // Sessions add to the same usage with each response.
    return this.#ctx.usage && readOnlyNow(this.#ctx.usage);
  }

  get firstByteAtMs(): PluginContext['firstByteAtMs'] {
    return this.#ctx.firstByteAtMs;
  }

  get requestBytes(): PluginContext['requestBytes'] {
    return this.#ctx.requestBytes;
  }

  get replyBytes(): PluginContext['replyBytes'] {
    return this.#ctx.replyBytes;
  }

  get replyHeaders(): PluginContext['replyHeaders'] {
    return this.#ctx.replyHeaders;
  }

  get mcp(): PluginContext['mcp'] {
    return structuredClone(this.#ctx.mcp);
  }

  get agent(): PluginContext['agent'] {
    return structuredClone(this.#ctx.agent);
  }

  get aborted(): PluginContext['aborted'] {
    return this.#ctx.aborted;
  }
}

/** True for requests whose body is a config and the headers of another request. Both may hold credentials. */
function isExplained({ endpoint }: RequestContext): boolean {
  return endpoint?.name === 'explainConfig';
}

function visibleHead({ request }: RequestContext, hidden: HiddenNames): RequestHead {
  const { method, path, query, remoteAddress, country = null } = request;
  const headers: HeaderList = [];
  for (let i = 0; i < request.headers.length; i += 2) {
    const [name, value] = [request.headers[i] as string, request.headers[i + 1] as string];
    if (!hidden.hasHeader(name, value)) headers.push(name, value);
  }
  return {
    method,
    path,
    query: query
      .split('&')
      .filter((part) => !hidden.hasParameter(part))
      .join('&'),
    headers,
    // Authors write names as documentation of HTTP does: X-Tier.
    header: (name) => findHeader(headers, name.toLowerCase()),
    remoteAddress,
    country,
  };
}
