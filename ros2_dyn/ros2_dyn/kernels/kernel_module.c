// SPDX-License-Identifier: Apache-2.0
/* The generated program as a Python extension module: `make` returns the kernel, `batch` evaluates many states.

   Before this file, the generated code defines: ARGUMENTS, the number of arguments of the kernel; argument_names;
   INPUTS, the number of those that are used; input_argument, which argument each one is; input_size; OUTPUTS,
   output_ndim, output_shape and output_size; program(in, out), with a pointer to each used input and to each output;
   LANES; and where this is above 1, program_lanes(in, out), for as many states side by side. */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *dict;
    PyObject *general;              /* called with all arguments where they are not what is fast */
    PyObject *defaults[ARGUMENTS];
    int tuples;                     /* whether it takes sequences and returns nested tuples */
} Kernel;

/* ---- one state: arrays in, new arrays out */

static PyObject *call_general(Kernel *self, PyObject *const *values)
{
    return PyObject_Vectorcall(self->general, values, ARGUMENTS, NULL);
}

static PyObject *evaluate_arrays(Kernel *self, PyObject *const *values)
{
    const double *in[INPUTS];
    double *out[OUTPUTS], numbers[OUTPUTS], sum = 0.0;
    for (int i = 0; i < INPUTS; i++) {
        PyArrayObject *array = (PyArrayObject *)values[input_argument[i]];
        if (!PyArray_CheckExact(array) || PyArray_TYPE(array) != NPY_DOUBLE || PyArray_NDIM(array) != 1
            || PyArray_DIM(array, 0) != input_size[i] || !PyArray_ISCARRAY_RO(array))
            return call_general(self, values);
        in[i] = (const double *)PyArray_DATA(array);
        for (int k = 0; k < input_size[i]; k++)
            sum += in[i][k];
    }
    if (!isfinite(sum))
        return call_general(self, values);
    PyObject *result = PyTuple_New(OUTPUTS);
    if (result == NULL)
        return NULL;
    for (int i = 0; i < OUTPUTS; i++) {
        out[i] = &numbers[i];
        if (output_ndim[i] == 0)
            continue;
        PyObject *array = PyArray_SimpleNew(output_ndim[i], (npy_intp *)output_shape[i], NPY_DOUBLE);
        if (array == NULL) {
            Py_DECREF(result);
            return NULL;
        }
        out[i] = (double *)PyArray_DATA((PyArrayObject *)array);
        PyTuple_SET_ITEM(result, i, array);
    }
    program(in, out);
    for (int i = 0; i < OUTPUTS; i++)
        if (output_ndim[i] == 0)
            PyTuple_SET_ITEM(result, i, PyFloat_FromDouble(numbers[i]));
    return result;
}

/* ---- one state: sequences in, nested tuples out */

static int read_numbers(PyObject *value, int i, double *numbers)
{
    PyObject *sequence = PySequence_Fast(value, argument_names[input_argument[i]]);
    if (sequence == NULL)
        return -1;
    Py_ssize_t size = PySequence_Fast_GET_SIZE(sequence);
    if (size != input_size[i]) {
        PyErr_Format(PyExc_ValueError, "%s: expected %d numbers, got %zd", argument_names[input_argument[i]],
                     (int)input_size[i], size);
        Py_DECREF(sequence);
        return -1;
    }
    PyObject **items = PySequence_Fast_ITEMS(sequence);
    for (Py_ssize_t k = 0; k < size; k++) {
        numbers[k] = PyFloat_AsDouble(items[k]);
        if (numbers[k] == -1.0 && PyErr_Occurred()) {
            Py_DECREF(sequence);
            return -1;
        }
    }
    Py_DECREF(sequence);
    return 0;
}

static PyObject *nested(const double **next, const npy_intp *shape, int ndim)
{
    if (ndim == 0)
        return PyFloat_FromDouble(*(*next)++);
    PyObject *tuple = PyTuple_New(shape[0]);
    for (npy_intp i = 0; tuple != NULL && i < shape[0]; i++) {
        PyObject *item = nested(next, shape + 1, ndim - 1);
        if (item == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, item);
    }
    return tuple;
}

static PyObject *evaluate_tuples(PyObject *const *values)
{
    double numbers[INPUT_TOTAL], *results = PyMem_Malloc(OUTPUT_TOTAL * sizeof(double)), *out[OUTPUTS];
    const double *in[INPUTS], *next = results;
    PyObject *result = results == NULL ? PyErr_NoMemory() : PyTuple_New(OUTPUTS);
    double *at = numbers;
    for (int i = 0; result != NULL && i < INPUTS; i++) {
        in[i] = at;
        if (read_numbers(values[input_argument[i]], i, at) < 0)
            Py_CLEAR(result);
        at += input_size[i];
    }
    if (result != NULL) {
        at = results;
        for (int i = 0; i < OUTPUTS; i++) {
            out[i] = at;
            at += output_size[i];
        }
        program(in, out);
    }
    for (int i = 0; result != NULL && i < OUTPUTS; i++) {
        PyObject *item = nested(&next, output_shape[i], output_ndim[i]);
        if (item == NULL)
            Py_CLEAR(result);
        else
            PyTuple_SET_ITEM(result, i, item);
    }
    PyMem_Free(results);
    return result;
}

/* ---- the kernel */

static int argument_index(PyObject *name)
{
    for (int i = 0; i < ARGUMENTS; i++)
        if (PyUnicode_CompareWithASCIIString(name, argument_names[i]) == 0)
            return i;
    PyErr_Format(PyExc_TypeError, "kernel() got an unexpected keyword argument '%U'", name);
    return -1;
}

static PyObject *kernel_call(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *names)
{
    Kernel *self = (Kernel *)object;
    PyObject *values[ARGUMENTS];
    Py_ssize_t n = PyVectorcall_NARGS(nargsf), named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    if (n > ARGUMENTS)
        return PyErr_Format(PyExc_TypeError, "kernel() takes %d arguments, got %zd", ARGUMENTS, n);
    for (int i = 0; i < ARGUMENTS; i++)
        values[i] = i < n ? args[i] : self->defaults[i];
    for (Py_ssize_t k = 0; k < named; k++) {
        int i = argument_index(PyTuple_GET_ITEM(names, k));
        if (i < 0)
            return NULL;
        if (i < n)
            return PyErr_Format(PyExc_TypeError, "kernel() got multiple values for argument '%s'", argument_names[i]);
        values[i] = args[n + k];
    }
    return self->tuples ? evaluate_tuples(values) : evaluate_arrays(self, values);
}

static int kernel_traverse(PyObject *object, visitproc visit, void *arg)
{
    Kernel *self = (Kernel *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dict);
    Py_VISIT(self->general);
    for (int i = 0; i < ARGUMENTS; i++)
        Py_VISIT(self->defaults[i]);
    return 0;
}

static int kernel_clear(PyObject *object)
{
    Kernel *self = (Kernel *)object;
    Py_CLEAR(self->dict);
    Py_CLEAR(self->general);
    for (int i = 0; i < ARGUMENTS; i++)
        Py_CLEAR(self->defaults[i]);
    return 0;
}

static void kernel_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    kernel_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMemberDef kernel_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Kernel, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Kernel, dict), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot kernel_slots[] = {
    {Py_tp_call, (void *)PyVectorcall_Call},
    {Py_tp_traverse, (void *)kernel_traverse},
    {Py_tp_clear, (void *)kernel_clear},
    {Py_tp_dealloc, (void *)kernel_dealloc},
    {Py_tp_members, kernel_members},
    {0, NULL},
};

static PyType_Spec kernel_spec = {
    "ros2_dyn_kernel.Kernel",
    sizeof(Kernel),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    kernel_slots,
};

static PyObject *make(PyObject *module, PyObject *args)
{
    PyObject *defaults, *general, *type = PyObject_GetAttrString(module, "Kernel");
    int tuples;
    if (type == NULL || !PyArg_ParseTuple(args, "O!Op", &PyTuple_Type, &defaults, &general, &tuples)) {
        Py_XDECREF(type);
        return NULL;
    }
    Kernel *self = (Kernel *)PyType_GenericAlloc((PyTypeObject *)type, 0);
    Py_DECREF(type);
    if (self == NULL)
        return NULL;
    self->vectorcall = kernel_call;
    self->tuples = tuples;
    Py_INCREF(general);
    self->general = general;
    for (int i = 0; i < ARGUMENTS; i++) {
        self->defaults[i] = PyTuple_GET_ITEM(defaults, i);
        Py_INCREF(self->defaults[i]);
    }
    return (PyObject *)self;
}

/* ---- many states: rows of contiguous arrays */

static void evaluate_row(const double *const *in, double *const *out, npy_intp row)
{
    const double *row_in[INPUTS];
    double *row_out[OUTPUTS];
    for (int i = 0; i < INPUTS; i++)
        row_in[i] = in[i] + row * input_size[i];
    for (int i = 0; i < OUTPUTS; i++)
        row_out[i] = out[i] + row * output_size[i];
    program(row_in, row_out);
}

#if LANES > 1
/* Returns whether sines of all positions can be reduced side by side. */
static int is_moderate(const double *const *in, npy_intp row)
{
    for (npy_intp k = row * input_size[0]; k < (row + LANES) * input_size[0]; k++)
        if (!(fabs(in[0][k]) <= MAX_ANGLE))
            return 0;
    return 1;
}

static void evaluate_rows(const double *const *in, double *const *out, npy_intp row)
{
    lanes lanes_in[INPUT_TOTAL], lanes_out[OUTPUT_TOTAL], *at = lanes_in;
    const lanes *pointers_in[INPUTS];
    lanes *pointers_out[OUTPUTS];
    for (int i = 0; i < INPUTS; i++) {
        pointers_in[i] = at;
        for (int k = 0; k < input_size[i]; k++, at++)
            for (int lane = 0; lane < LANES; lane++)
                (*at)[lane] = in[i][(row + lane) * input_size[i] + k];
    }
    at = lanes_out;
    for (int i = 0; i < OUTPUTS; i++) {
        pointers_out[i] = at;
        at += output_size[i];
    }
    program_lanes(pointers_in, pointers_out);
    at = lanes_out;
    for (int i = 0; i < OUTPUTS; i++)
        for (int k = 0; k < output_size[i]; k++, at++)
            for (int lane = 0; lane < LANES; lane++)
                out[i][(row + lane) * output_size[i] + k] = (*at)[lane];
}
#endif

static PyObject *batch(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    const double *in[INPUTS];
    double *out[OUTPUTS];
    (void)module;
    if (nargs != INPUTS + OUTPUTS)
        return PyErr_Format(PyExc_TypeError, "batch() takes %d arrays, got %zd", INPUTS + OUTPUTS, nargs);
    for (int i = 0; i < INPUTS; i++)
        in[i] = (const double *)PyArray_DATA((PyArrayObject *)args[i]);
    for (int i = 0; i < OUTPUTS; i++)
        out[i] = (double *)PyArray_DATA((PyArrayObject *)args[INPUTS + i]);
    npy_intp rows = PyArray_DIM((PyArrayObject *)args[0], 0), row = 0;
    Py_BEGIN_ALLOW_THREADS
#if LANES > 1
    for (; row + LANES <= rows; row += LANES) {
        if (is_moderate(in, row))
            evaluate_rows(in, out, row);
        else
            for (int lane = 0; lane < LANES; lane++)
                evaluate_row(in, out, row + lane);
    }
#endif
    for (; row < rows; row++)
        evaluate_row(in, out, row);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

/* ---- the module */

static PyMethodDef methods[] = {
    {"make", make, METH_VARARGS, "make(defaults, general, tuples): return a kernel."},
    {"batch", (PyCFunction)(void (*)(void))batch, METH_FASTCALL,
     "batch(*inputs, *outputs): evaluate the rows of contiguous arrays of float64."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    import_array1(-1);
    PyObject *used = PyTuple_New(INPUTS);
    if (used == NULL)
        return -1;
    for (int i = 0; i < INPUTS; i++)
        PyTuple_SET_ITEM(used, i, PyLong_FromLong(input_argument[i]));
    if (PyModule_AddObject(module, "used", used) < 0)
        return -1;
    return PyModule_AddObject(module, "Kernel", PyType_FromSpec(&kernel_spec));
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)execute}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "ros2_dyn_kernel", NULL, 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_ros2_dyn_kernel(void)
{
    return PyModuleDef_Init(&definition);
}
