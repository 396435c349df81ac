import type { RestApi } from '../../../../core/contract/protocol/mcp/mcp-rest.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { listOperations } from './list-operations.ts';
import type { OpenApiDocument } from './openapi-schema.ts';
import { readOpenApi } from './read-openapi.ts';
import { attempt, toRestApi } from './to-rest-api.ts';

/** An operation in a reply, without its selection. */
interface DescribedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tool: string | null;
  readonly description: string | null;
  readonly problem: string | null;
}

interface OpenApiTasks {
  /** Checks a sent document. Returns it in the form of OpenAPI 3.1, with the selected operations as tools. */
  readonly read: (input: { readonly sent: string | JsonObject; readonly operations: readonly string[] }) => {
    readonly document: OpenApiDocument;
    readonly api: RestApi;
  };
  /** Returns the selected operations of a stored document as tools. */
  readonly select: (input: { readonly document: OpenApiDocument; readonly operations: readonly string[] }) => RestApi;
  /** Returns all operations. */
  readonly list: (input: { readonly document: OpenApiDocument }) => DescribedOperation[];
}
export type OpenApiTaskName = keyof OpenApiTasks;
export type OpenApiInput<Name extends OpenApiTaskName> = Parameters<OpenApiTasks[Name]>[0];
export type OpenApiOutput<Name extends OpenApiTaskName> = ReturnType<OpenApiTasks[Name]>;

/** Runs a task. Documents of other parties can take seconds, so only a thread calls this. Input and output are plain JSON. */
export function runTask<Name extends OpenApiTaskName>(name: Name, input: OpenApiInput<Name>): OpenApiOutput<Name> {
  const task = openApiTasks[name] as (given: OpenApiInput<Name>) => OpenApiOutput<Name>;
  return task(input);
}

const openApiTasks: OpenApiTasks = {
  read({ sent, operations }) {
    const document = readOpenApi(sent);
    return { document, api: toRestApi(document, operations) };
  },
  select: ({ document, operations }) => toRestApi(document, operations),
  list: ({ document }) =>
    listOperations(document).map((listed) => {
      const { id, method, path } = listed;
      const made = attempt(document, listed);
      if (typeof made === 'string') return { id, method, path, tool: null, description: null, problem: made };
      return {
        id,
        method,
        path,
        tool: made.tool.name,
        description: String(made.tool.description).slice(0, 1_000),
        problem: null,
      };
    }),
};
