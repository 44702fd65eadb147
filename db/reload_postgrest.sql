-- Runs after each migration (.gmrc): PostgREST reads the changed schema.
notify pgrst, 'reload schema';
