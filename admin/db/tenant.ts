/** The owner of rows, or the part of them that a caller can use. */
export interface Tenant {
  readonly organisationId: string;
  /** Null: the organisation itself as an owner, and all workspaces of the organisation in a request. */
  readonly workspaceId: string | null;
}

/** A workspace as an owner of rows. */
export interface WorkspaceTenant extends Tenant {
  readonly workspaceId: string;
}
