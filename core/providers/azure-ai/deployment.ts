import type { Operation, OperationCall } from '../../contract/provider/provider.ts';

/** Returns the operation with the deployment's name as model, if one resource holds several. */
export function forDeployment(operation: Operation): Operation {
  return {
    ...operation,
    toProvider(params, call) {
      const body = operation.toProvider?.(params, call) ?? params;
      const name = deploymentOf(call);
      return name === null || body.model === name ? body : { ...body, model: name };
    },
  };
}

/** Returns the `model` field of a form. */
export function modelInForm(call: OperationCall): string {
  return deploymentOf(call) ?? call.model;
}

/** Endpoints of one model ignore the model's name, and their address contains their own. */
function deploymentOf({ settings }: OperationCall): string | null {
  const { azure_deployment_type: type, azure_deployment_name: name } = settings;
  return type === undefined && typeof name === 'string' ? name : null;
}
