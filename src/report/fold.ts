/** So many accounts are named one by one; of more, the number is shown. */
export const NAMED_ACCOUNTS = 12;
