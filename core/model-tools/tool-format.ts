import type { JsonObject } from '../contract/values/json/json.ts';

/** Begins the names of servers whose tools the gateway calls itself. */
export const serverPrefix = '@svc-mcp/';

/** An MCP server of the gateway that a request names. */
export interface NamedServer {
  /** Slug. */
  readonly slug: string;
  /** Path of the field that names it, for errors. */
  readonly path: string;
  /** True if the request allows a tool of this name. */
  allows(tool: string): boolean;
}

/** A tool of an MCP server, as the model sees it. */
export interface ModelTool {
  /** Name for the model. */
  readonly name: string;
  readonly server: string;
  /** Name at the server. */
  readonly tool: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Null: the server declares none. */
  readonly outputSchema: JsonObject | null;
}

/** A call of a tool by the model. */
export interface ToolCall {
  readonly id: string;
  readonly tool: ModelTool;
  /** JSON as the model wrote it. */
  readonly sent: string;
}

export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
}

/** A format of model requests whose tools may be servers of the gateway. */
export interface ToolFormat {
  readonly wire: 'messages' | 'responses';
  /** Returns the servers of the gateway that a request names. Throws GatewayError `bad_request`. */
  serversOf(body: JsonObject): NamedServer[];
  begin(body: JsonObject, tools: readonly ModelTool[]): Conversation;
}

/** The rounds of one request. */
export interface Conversation {
  /** Returns the body of the next call of the model. `isLast`: the model may call no further tool. */
  next(isLast: boolean): JsonObject;
  /** Returns the calls of the gateway's tools in a complete reply of the model. */
  callsOf(reply: JsonObject): ToolCall[];
  /** True if the client has to act on the reply, because the model called a tool of the client. */
  needsClient(reply: JsonObject): boolean;
  /** Adds a reply and the results of its calls. */
  add(reply: JsonObject, results: readonly ToolResult[]): void;
  /** Tokens of all replies. */
  tokens(): number;
  /** Returns the last reply with the output and the usage of all rounds. */
  finish(last: JsonObject): JsonObject;
  stream(): RoundStream;
}

/** Joins the event streams of all rounds to one. */
export interface RoundStream {
  /** Returns the events to send for an event of the model. */
  take(event: JsonObject): JsonObject[];
  /** Returns the reply of the round at its end, and begins the next one. Null if the stream was cut. */
  endRound(): JsonObject | null;
  /** Returns the events for results of calls, in the order of the calls. */
  results(calls: readonly ToolCall[], results: readonly ToolResult[]): JsonObject[];
  /** Returns the last events. */
  finish(reply: JsonObject): JsonObject[];
}
